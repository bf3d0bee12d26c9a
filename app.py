"""The app: frame, menu, page. Start it with `make run`, or `python -m crane_core app`.

Streamlit reads this file twice: the server imports it for `app`, and each visit runs it as a script.
"""

from streamlit.starlette import App

from crane_core.ui.door import door
from crane_core.ui.frame import run_app
from crane_core.ui.navigation import declare_pages
from crane_core.ui.server_process import send_at_once
from crane_core.ui.warm import begin

if __name__ == "__main__":
    run_app()
else:
    declare_pages()
    app = App(__file__, middleware=door())
    send_at_once()
    begin()
