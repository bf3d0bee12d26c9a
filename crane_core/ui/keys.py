"""Every name that pages keep in the URL or in the session, in one place."""

CASE = "case"
BENCHMARK = "benchmark"
LIBRARY = "library"
ROOT_CAUSE = "root_cause"
CRASH_TYPE = "crash_type"
STAGE = "stage"
DETECTOR = "detector"
SETTING = "setting"
EXPERIMENT = "experiment"
AGREEMENT = "agreement"
SEARCH = "find"
SORT = "sort"
VOTE = "vote"
CREDIT = "credit"
JUDGED_BY = "judged_by"
BESIDE = "beside"
COMPARE = "compare"
COST = "cost"
PROMPT = "prompt"
RATE = "rate"
GROUP_BY = "by"
VOTES_OF = "votes"
KIND = "kind"
TABLE = "table"
CLAIMS = "claims"
PART = "part"
METRIC = "metric"
MEMBERS = "members"
SCOPE = "of"
ANNOTATORS = "who"
COEFFICIENT = "coefficient"
GROUPS = "group"

CAMPAIGN = "campaign"
ANNOTATOR = "annotator"
PRACTICE = "practice"
OWN = "own"
OWN_ALL = "list"
OWN_LIST = "own_items"
DECIDE = "decide"
THREAD = "thread"
THREAD_LIST = "threads"

BAR = "bar"
BAR_PLACE = "bar_place"
RESUME = "desk_resume"
PRACTICE_DESK = "desk_of_practice"
PAGE = "_page"
SHOWN_PAGE = "_shown_page"
REMEMBERED = "_remembered"
UNKNOWN_VALUES = "_unknown_values"
UNKNOWN_PAGE = "_unknown_page"
ABOVE = "above"
LEFT_FOR = "_left_for"
ADMITTED = "_admitted"
LEADING = "_leading"
NEW_SEED = "_new_seed"
DECIDES = "_decides"
DECIDE_RESUME = "decide_resume"
PICKED = "_picked"
BOARD = "_board"

INSTANCE = "instance"
RUN_BESIDE = "beside_run"
RUN_ONLY = "only"
RUNS_ON = "on"
RUNS_BY = "by_detector"
RUN_PAGE = "_run_page"
START = "_start"
START_DETECTOR = "_start_detector"
START_BENCHMARK = "_start_benchmark"
START_SETTING = "_start_setting"
START_INSTANCES = "_start_instances"
START_MODEL = "_start_model"
START_ENDPOINT = "_start_endpoint"
START_RUNS = "_start_runs"
START_BUDGET = "_start_budget"
START_TOKENS = "_start_tokens"
START_NAME = "_start_name"
START_NOTE = "_start_note"
N_RUNNING = "_n_running"

TRY_WAY = "notebook"
TRY_SHIPPED = "pair"
TRY_TARGET = "_try_target"
TRY_UPLOAD = "_try_upload"
TRY_FOLDER = "_try_folder"
TRY_PATH = "_try_path"
TRY_SETTING = "_try_setting"
TRY_ASKED = "_try_asked"
TRY_SEND = "_try_send"
TRY_CALL_BACK = "_try_call_back"
TRY_RUN = "_try_run"
TRY_START = "_try_start"
TRY_PAST = "_try_past"
TRY_REHEARSE = "_try_rehearse"
TRY_STOP = "_try_stop"
TRY_KERNEL = "_try_kernel"
TRY_LOOK = "_try_look"
TRY_ATTACHED = "_try_attached"

CASE_FORM = "add_case"
CASE_ADDING = "_case_adding"
CASE_STOP = "_case_stop"


def desk(campaign: str, annotator: str) -> str:
    """The labelling component of one annotator."""
    return f"desk:{_in_component(campaign)}:{_in_component(annotator)}"


def deciding(campaign: str) -> str:
    """The component in which a lead decides."""
    return f"deciding:{_in_component(campaign)}"


def _in_component(name: str) -> str:
    """The name without underscores: Streamlit splits a component's key at the first two in a row.

    A tilde is in no name of a campaign or annotator, so that no two names become one.
    """
    return name.replace("_", "~")


def guideline(campaign: str) -> str:
    """The text that a lead is editing."""
    return f"guideline_{campaign}"


def guideline_base(campaign: str) -> str:
    """The version that this edit began with."""
    return f"_guideline_base_{campaign}"


def own_label_shown(
    campaign: str, annotator: str, item: str, showing: int
) -> str:
    """The event of the label that My item was drawn with."""
    return f"own_label_{campaign}_{annotator}_{item}_{showing}"


def taken(desk_key: str) -> str:
    """The outcome of the last acts that this desk sent."""
    return f"taken_{desk_key}"
