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
VOTE = "vote"
CREDIT = "credit"
JUDGED_BY = "judged_by"
PROMPT = "prompt"
RATE = "rate"
GROUP_BY = "by"
KIND = "kind"
TABLE = "table"
SCOPE = "of"
ANNOTATORS = "who"
COEFFICIENT = "coefficient"
GROUPS = "group"

CAMPAIGN = "campaign"
ANNOTATOR = "annotator"
PRACTICE = "practice"
DECIDE = "decide"

RESUME = "desk_resume"
PRACTICE_DESK = "desk_of_practice"
IN_APP = "_in_app"
ADMITTED = "_admitted"
LEADING = "_leading"
NEW_SEED = "_new_seed"
DECIDES = "_decides"
PICKED = "_picked"


def desk(campaign: str, annotator: str) -> str:
    """The labelling component of one annotator."""
    return f"desk_{campaign}_{annotator}"


def taken(desk_key: str) -> str:
    """What became of the last acts that this desk sent."""
    return f"taken_{desk_key}"
