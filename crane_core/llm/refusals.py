"""What the words of an error say of all further requests: no such model, a refused key, nothing left to pay with.

Knows the wordings of OpenAI, LiteLLM, vLLM, Transformers, llama.cpp, Ollama, LM Studio, OpenRouter, Gemini, DeepSeek,
Mistral and Anthropic, which use almost every status for them. Refuses to read a status, and to see a refusal in a
message about one question.
"""

import re
from typing import NamedTuple


class Refusal(NamedTuple):
    """What the endpoint refuses, and what to do."""

    why: str
    remedy: str


KEY = Refusal(
    "The endpoint refuses the key",
    "Check the key, or set the variable that holds it: --key-env NAME.",
)
MODEL = Refusal(
    "The endpoint has no such model",
    "Check --model; the endpoint lists its models at BASE_URL/models.",
)
PAYMENT = Refusal(
    "The endpoint asks for payment",
    "Add credit at the provider, then run the same command again.",
)

_MODEL = re.compile(
    r"model_not_found|model_not_exist|invalid_model|DeploymentNotFound|key_model_access_denied"
    r"|\b(?:invalid|unknown|no such|nonexistent) model\b|not a valid model|model identifier is invalid"
    r"|\bmodels?\b[^\n]{0,160}?(?:does not exist|doesn't exist|\bnot exist|\bnot found|could not be found)"
    r"|\bnot found the model|\bno models? (?:is |are )?loaded|unable to access model|not allowed to access model"
    r"|(?:do not|don't) have access to (?:the )?model|not supported by any provider|LLM Provider NOT provided"
    r"|server is pinned to",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"invalid_api_key|\bauthentication ?(?:error|failed|fails)|\bunauthori[sz]ed\b|no auth credentials|no connected db"
    r"|\b(?:invalid|incorrect|expired|missing|wrong|malformed) (?:api[ _-]?|access |virtual |proxy server )?"
    r"(?:key|token)\b"
    r"|\bno (?:api[ _-]?key|cookie auth) (?:was |is )?(?:provided|passed|found|set)|virtual key expected"
    r"|\bapi[ _-]?key\b[^\n]{0,40}?(?:not valid|invalid|required|missing|expired|must be set|not found|is wrong)",
    re.IGNORECASE,
)
_PAYMENT = re.compile(
    r"budget_exceeded|budget has been exceeded|exceeded budget|credit balance is too low|billing_(?:hard|not)"
    r"|insufficient[ _](?:balance|credits?|funds|quota)",
    re.IGNORECASE,
)


def refusal_in(words: str) -> Refusal | None:
    """What an error with these words (its code, type and message) refuses to every question; None: nothing."""
    found = ((_PAYMENT, PAYMENT), (_KEY, KEY), (_MODEL, MODEL))
    return next(
        (refusal for form, refusal in found if form.search(words)), None
    )
