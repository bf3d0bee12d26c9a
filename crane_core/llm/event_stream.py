"""A reply that comes as a stream of events, put together to the completion that it is.

Knows server-sent events and the chunks of chat completions. Refuses a stream without its end: it is half a reply.
"""

import json
import re
from collections.abc import Iterator

from crane_core.domain import JsonObject

_BEGINNING = re.compile(rb"\s*(?:data|event|id|retry)?:")
_LINE_END = re.compile(r"\r\n|\r|\n")
_DONE = "[DONE]"
_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
"""Members of a message that come in pieces."""


def is_stream(content_type: str) -> bool:
    """Whether a content type announces events."""
    return content_type.partition(";")[0].strip().lower() == "text/event-stream"


def looks_like_stream(raw: bytes) -> bool:
    """Whether a body is events, whatever its content type says."""
    return _BEGINNING.match(raw) is not None


def completion_of(raw: bytes) -> JsonObject:
    """The completion whose first choice is the concatenation of the chunks, with their usage; or what reports an error.

    Raises ValueError, LookupError, TypeError or AttributeError if the events hold something else, or have no end.
    """
    usage, has_ended = None, False
    choices: list[JsonObject] = []
    for data in _events(raw):
        if data == _DONE:
            has_ended = True
            break
        chunk = json.loads(data)
        if chunk.get("error"):
            return {"error": chunk["error"]}
        # The usage comes in a last chunk, which has no choice.
        usage = chunk.get("usage") or usage
        # Other choices are answers that no request of ours wants; mixed in, they would garble the first.
        choices += [
            choice
            for choice in chunk.get("choices") or ()
            if choice.get("index", 0) == 0
        ]
    reasons = [
        reason for choice in choices if (reason := choice.get("finish_reason"))
    ]
    # Some servers close the stream after the last chunk, without the mark: a finish reason is an end, too.
    if not has_ended and not reasons:
        raise ValueError("the stream has no end")
    finish_reason = reasons[-1] if reasons else None
    joined = {
        "message": _joined(choices),
        "finish_reason": finish_reason,
        "logprobs": {"content": _tokens(choices)},
    }
    return {"usage": usage, "choices": [joined]}


def _joined(choices: list[JsonObject]) -> JsonObject:
    """The message that the chunks of a choice make together."""
    said = [
        choice.get("delta") or choice.get("message") or {} for choice in choices
    ]
    message: JsonObject = {}
    for name in _TEXTS:
        message[name] = (
            "".join(_spoken(piece.get(name)) for piece in said) or None
        )
    called: dict[int, list[str]] = {}
    for piece in said:
        _add_calls(called, piece)
    message["tool_calls"] = [
        {"function": {"arguments": "".join(parts)}} for parts in called.values()
    ]
    return message


def _tokens(choices: list[JsonObject]) -> list[JsonObject]:
    """The tokens of all chunks with their log probabilities; none where the endpoint tells none."""
    told = [choice.get("logprobs") or {} for choice in choices]
    return [
        token
        for one in told
        if isinstance(one, dict)
        for token in one.get("content") or ()
    ]


def _add_calls(called: dict[int, list[str]], said: JsonObject) -> None:
    """The next piece of the arguments of each function call, by the number of the call."""
    calls = said.get("tool_calls") or (
        [{"function": said["function_call"]}]
        if said.get("function_call")
        else []
    )
    for call in calls:
        arguments = call.get("function", {}).get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        called.setdefault(call.get("index", 0), []).append(arguments or "")


def _spoken(piece: object) -> str:
    """The text of a piece; some endpoints send parts, of which only texts are spoken."""
    if isinstance(piece, list):
        return "".join(
            part["text"] for part in piece if part.get("type") == "text"
        )
    return piece if isinstance(piece, str) else ""


def _events(raw: bytes) -> Iterator[str]:
    """The data of each event; comments, names and numbers of events are left out."""
    lines: list[str] = []
    for line in _LINE_END.split(raw.decode("utf-8")):
        if line.startswith("data:"):
            lines.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and lines:
            yield "\n".join(lines)
            lines.clear()
    if lines:
        yield "\n".join(lines)
