// A button in the notebook's toolbar: will the active cell crash? The verdict appears under the cell, which is not run.
//
// Written by hand as the container that JupyterLab 4 loads (webpack's module federation: `init` gets the shared
// libraries, `get` gives the plugin), so that nothing has to be built. All text is put in as text, never as HTML.
(() => {
    'use strict';

    const NAME = 'crane-workbench';
    const COMMAND = 'crane:check';
    // No command with a package's name: none of that name is on the index, and anybody could put one there.
    const REMEDY = 'The kernel needs Python 3.11 or later. Install Crane Workbench in its environment from the folder of '
        + 'its source (README: "Ask in the notebook that is open"), then restart the kernel. '
        + 'A kernel of Python 3.8 or later is looked at from outside by: crane check --attach';
    const PROGRESS = 'application/vnd.crane.asking+json';
    const STYLE = `
.crane-verdict { margin: 4px 8px 4px calc(var(--jp-cell-prompt-width) + 8px); padding: 6px 12px; line-height: 1.5;
    border-left: 4px solid var(--jp-border-color1); background: var(--jp-layout-color1);
    color: var(--jp-ui-font-color1); font-size: var(--jp-ui-font-size1); overflow-wrap: anywhere; }
.crane-verdict[data-verdict="crash"] { border-left-color: var(--jp-error-color1); }
.crane-verdict[data-verdict="nothing certain"] { border-left-color: var(--jp-ui-font-color2); }
.crane-verdict[data-stale] { border-left-style: dashed; }
.crane-verdict-head { display: flex; gap: 8px; align-items: baseline; flex-wrap: wrap; }
.crane-verdict-head strong { flex: 1 1 auto; }
.crane-verdict[data-stale] strong { text-decoration: line-through; }
.crane-verdict button { font: inherit; color: inherit; background: var(--jp-layout-color2); cursor: pointer;
    border: 1px solid var(--jp-border-color1); border-radius: 3px; padding: 0 8px; min-height: 24px; }
.crane-verdict dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 12px; margin: 4px 0 0; }
.crane-verdict dt { color: var(--jp-ui-font-color2); }
.crane-verdict dd { margin: 0; }
.crane-verdict dd[data-name="line"] { font-family: var(--jp-code-font-family); white-space: pre-wrap; }
`;

    let shared;
    /** A library that JupyterLab shares, in the version that it has. */
    const library = async name => (await Object.values(shared[name])[0].get())();

    const element = (kind, text, more = {}) => Object.assign(document.createElement(kind), {textContent: text, ...more});

    /** The answer of the kernel's side (crane_core/live/button.py), or words that say why there is none. */
    async function answer(kernel, source, onProgress) {
        const code = `__import__('crane_core.live.button', fromlist=['answer']).answer(${JSON.stringify(source)})`;
        const request = kernel.requestExecute(
            {code: '', silent: true, store_history: false, user_expressions: {crane: code}});
        request.onIOPub = ({content}) => {
            const waiting = content.data?.[PROGRESS];
            if (waiting) {
                onProgress(waiting.asking);
            }
        };
        const reply = await request.done;
        const told = reply.content.user_expressions?.crane;
        if (told?.status === 'ok') {
            return told.data['application/json'];
        }
        const {ename, evalue} = told ?? reply.content;
        const missing = ename === 'ModuleNotFoundError' && /crane_core/.test(evalue);
        const unusable = ['ImportError', 'SyntaxError'].includes(ename);
        return {
            title: 'No verdict',
            rows: [['reason', missing ? 'Crane Workbench is not installed in the environment of this kernel.'
                                      : `${ename}: ${evalue}`],
                   ...(missing || unusable ? [['remedy', REMEDY]] : [])],
        };
    }

    async function plugin() {
        const [{INotebookTracker, NotebookActions}, {ICommandPalette, CommandToolbarButton}, {Widget}] =
            await Promise.all(['@jupyterlab/notebook', '@jupyterlab/apputils', '@lumino/widgets'].map(library));

        /** What stands under a cell. */
        class Verdict extends Widget {
            constructor(panel, cell) {
                super();
                this.addClass('crane-verdict');
                this.node.setAttribute('role', 'status');
                this.panel = panel;
                this.cell = cell;
                this.source = '';
                this.edited = () => {
                    if (cell.model.sharedModel.source !== this.source) {
                        this.mark('the cell was edited');
                    }
                };
                cell.model.sharedModel.changed.connect(this.edited);
            }

            dispose() {
                if (!this.isDisposed) {
                    this.cell.model?.sharedModel.changed.disconnect(this.edited);
                    this.cell.craneVerdict = undefined;
                    super.dispose();
                }
            }

            async ask() {
                const kernel = this.panel.sessionContext.session?.kernel;
                this.source = this.cell.model.sharedModel.source;
                this.show_({title: kernel?.status === 'busy' ? 'Waiting for the kernel…' : 'Looking…', rows: []});
                if (!kernel) {
                    return this.show_({title: 'No verdict', rows: [['reason', 'This notebook has no kernel.']]});
                }
                const asked = this.asked = Symbol('asked');
                let told;
                try {
                    told = await answer(kernel, this.source, library => {
                        if (asked === this.asked && !this.isDisposed) {
                            this.show_({title: `Asking ${library}…`, rows: []});
                        }
                    });
                } catch {
                    told = {title: 'No verdict', rows: [['reason', 'The kernel was restarted or ended before it answered.']]};
                }
                if (asked === this.asked && !this.isDisposed) {
                    this.show_(told);
                    this.edited();
                }
            }

            /** predicted: "crash" or "nothing certain"; undefined where there is no verdict. */
            show_({title, rows, predicted}) {
                const head = element('div', '', {className: 'crane-verdict-head'});
                this.why = element('span', '');
                const again = element('button', 'Look again', {type: 'button', onclick: () => void this.ask()});
                const close = element('button', 'Close', {type: 'button', onclick: () => this.dispose()});
                head.append(element('strong', title), this.why, again, close);
                const list = document.createElement('dl');
                for (const [name, text] of rows) {
                    const value = element('dd', '');
                    value.dataset.name = name;
                    // What stands between brackets is at the odd places.
                    value.append(...text.split(/\bIn \[(\d{1,9})\]/).map(
                        (part, place) => place % 2 ? this.cellLink(Number(part)) : part));
                    list.append(element('dt', name), value);
                }
                this.node.replaceChildren(head, ...(rows.length ? [list] : []));
                this.node.dataset.verdict = predicted ?? 'none';
                this.mark('');
            }

            /** "In [3]", which leads to that cell while the notebook has it. */
            cellLink(number) {
                const named = `In [${number}]`;
                const cell = this.panel.content.widgets.find(one => one.model.executionCount === number);
                const go = () => {
                    this.panel.content.activeCellIndex = this.panel.content.widgets.indexOf(cell);
                    void this.panel.content.scrollToCell(cell);
                };
                return cell ? element('button', named, {type: 'button', onclick: go}) : named;
            }

            mark(why) {
                this.node.toggleAttribute('data-stale', Boolean(why));
                this.why.textContent = why ? `Out of date: ${why}.` : '';
            }
        }

        function verdictOf(panel, cell) {
            if (!cell.craneVerdict) {
                const at = cell.layout.widgets.indexOf(cell.inputArea.parent) + 1;
                cell.craneVerdict = new Verdict(panel, cell);
                cell.layout.insertWidget(at, cell.craneVerdict);
            }
            return cell.craneVerdict;
        }

        const outdate = (notebook, why) => notebook.widgets.forEach(cell => cell.craneVerdict?.mark(why));

        function activate(app, tracker, palette) {
            document.head.append(element('style', STYLE));
            const active = () => tracker.activeCell?.model.type === 'code' ? tracker.activeCell : null;
            app.commands.addCommand(COMMAND, {
                label: 'Will this cell crash?',
                caption: 'Ask Crane Workbench whether the active cell will crash; the cell is not run',
                isEnabled: () => active() !== null,
                execute: () => verdictOf(tracker.currentWidget, active()).ask(),
            });
            tracker.activeCellChanged.connect(() => app.commands.notifyCommandChanged(COMMAND));
            palette?.addItem({command: COMMAND, category: 'Notebook Operations'});
            app.docRegistry.addWidgetExtension('Notebook', {
                createNew: panel => {
                    const button = new CommandToolbarButton({commands: app.commands, id: COMMAND});
                    panel.toolbar.insertBefore('spacer', 'craneCheck', button);
                    panel.sessionContext.statusChanged.connect((_, status) => {
                        if (status.endsWith('restarting')) {
                            outdate(panel.content, 'the kernel was restarted');
                        }
                    });
                    return button;
                },
            });
            // A cell that ran shows its outcome; verdicts on the others may no longer hold.
            NotebookActions.executed.connect((_, {notebook, cell}) => {
                cell.craneVerdict?.dispose();
                outdate(notebook, 'another cell has run since');
            });
        }

        return {id: `${NAME}:plugin`, autoStart: true, requires: [INotebookTracker], optional: [ICommandPalette], activate};
    }

    (window._JUPYTERLAB ??= {})[NAME] = {
        init: scope => { shared = scope; },
        get: async () => {
            const made = await plugin();
            return () => ({__esModule: true, default: made});
        },
    };
})();
