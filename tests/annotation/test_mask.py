"""What a diagnosis may not tell: who wrote it, and what the writer was shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from crane_core.annotation.mask import INPUT, MODEL, drawn_text, mask

NAMES = ["gemini-2.5-flash", "Gemini 2.5 Flash", "gpt-5", "GPT 5", "qwen-2.5-32b-instruct", "Qwen 2.5 32b Instruct",
         "mistral-small-3.1", "pylint", "My Own Model", "ab"]  # fmt: skip


def masked(text: str, notebook: str = "x = 1") -> str:
    return mask(text, names=NAMES, notebook=notebook)


@pytest.mark.parametrize(
    "name",
    [
        "gpt-5", "GPT-5", "GPT 5", "gpt5", "GPT_5", "Gpt-5", "gemini-2.5-flash", "Gemini 2.5 Flash", "GEMINI 2.5 FLASH",
        "Qwen 2.5 32b Instruct", "Qwen2.5-32B-Instruct", "qwen_2.5_32b_instruct", "mistral-small-3.1", "pylint",
        "My Own Model", "my-own-model", "ChatGPT", "OpenAI", "GPT-4o", "gpt-4.1-mini", "GPT 3.5", "Claude", "claude-3",
        "Anthropic", "Llama 3", "llama-3.1-70b", "DeepSeek", "deepseek-r1", "Mixtral", "Gemma-2", "Qwen", "Gemini",
        "Grok", "Codestral",
    ],
)  # fmt: skip
def test_models_and_their_families_are_hidden(name: str) -> None:
    assert (
        masked(f"As {name}, I say the cell fails.")
        == f"As {MODEL}, I say the cell fails."
    )
    assert (
        masked(f"({name}): it fails; {name}.")
        == f"({MODEL}): it fails; {MODEL}."
    )


@pytest.mark.parametrize(
    "shown",
    [
        "executed cells",
        "provided executed cells",
        "preceding executed cells",
        "runtime information",
        "Runtime Information",
        "run-time information",
        "runtime info",
        "runtime_info",
        "current runtime context",
        "runtime environment",
        "runtime state",
        "runtime variable values",
        "kernel state",
        "kernel snapshot",
        "provided runtime information",
        "captured kernel state",
        "executed cells or current runtime information",
        "executed cells or the current runtime information",
        "provided executed cells or the current runtime information",
        "executed cells or provided in the runtime information",
        "executed cells or provided runtime info",
        "executed cells, or in the runtime information",
        "executed cells and runtime information",
        "executed cells/runtime info",
        "prior cells or runtime info",
        "earlier cells or the kernel state",
    ],
)
def test_the_input_goes_by_one_word_in_every_setting(shown: str) -> None:
    """The mark itself would tell the setting, if a text from code alone never had it."""
    assert masked(f"`df` is not defined in the {shown}, so it fails.") == (
        f"`df` is not defined in the {INPUT}, so it fails."
    )


def test_texts_of_both_settings_read_alike() -> None:
    code = masked(
        "`x` is defined in none of the executed cells. This raises a NameError."
    )
    runtime = masked(
        "`x` is defined in none of the executed cells or current runtime information. This raises a NameError."
    )
    assert code == runtime


@pytest.mark.parametrize(
    "text",
    [
        "This raises a RuntimeError: mat1 and mat2 shapes cannot be multiplied.",
        "A runtime error follows, at runtime.",
        "The kernel size (3, 3) is larger than the input; kernel_size must be smaller.",
        "The previous cell overwrote `df`; earlier cells are fine.",
        "The executed cell above defines it.",
        "Egypt and gemstones, a llamas' qwenty.",
        "GPTNeoForCausalLM is not imported.",
        "The model's output has 10 classes; the state of the art is data.",
        "",
    ],
)
def test_plain_words_stay(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "`GPT2Tokenizer` has no pad token.",
        "gpt2 expects ids",
        "the GPT2 vocabulary",
        "GPT-2 has no pad token",
    ],
)
def test_names_that_the_notebook_uses_stay(text: str) -> None:
    notebook = "from transformers import GPT2Tokenizer\ntok = GPT2Tokenizer.from_pretrained('gpt2')"
    assert masked(text, notebook) == text
    assert MODEL in masked(text)


def test_a_notebook_about_one_model_does_not_uncover_another() -> None:
    notebook = "tok = GPT2Tokenizer.from_pretrained('gpt2')"
    assert (
        masked("GPT-5 says GPT2Tokenizer fails", notebook)
        == f"{MODEL} says GPT2Tokenizer fails"
    )
    assert masked("gemini and gpt-5", notebook) == f"{MODEL} and {MODEL}"


def test_an_own_word_counts_from_its_beginning_only() -> None:
    assert masked("gemini fails", "mygemini = 1") == f"{MODEL} fails"


def test_names_of_one_or_two_letters_hide_nothing() -> None:
    assert masked("ab is a variable") == "ab is a variable"


def test_a_name_is_a_text_and_not_a_pattern() -> None:
    hostile = ["(a+)+$", ".*", "[", "\\", "a|b", "   ", "---"]
    assert (
        mask("aaaa a|b [x] 1.2", names=hostile, notebook="")
        == f"aaaa {MODEL} [x] 1.2"
    )


@given(
    text=st.text(max_size=60),
    before=st.text(max_size=20),
    name=st.sampled_from(NAMES[:-1]),
)
def test_no_text_around_it_lets_a_name_through(
    text: str, before: str, name: str
) -> None:
    assert name not in masked(f"{before} {name} {text}")


@given(text=st.text(max_size=200))
def test_masking_twice_is_masking_once(text: str) -> None:
    once = masked(text)
    assert masked(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "provided " * 20_000,
        "executed cells or " * 10_000,
        "executed cells" + " " * 100_000 + "x",
        "runtime" + "-" * 100_000,
        "prior cells or the " * 10_000,
        "gpt-" * 30_000,
        "gpt-5" + "-" * 100_000,
        "qwen" + "_ " * 50_000,
    ],
)
def test_a_text_made_to_keep_the_search_busy_is_read_to_its_end(
    text: str,
) -> None:
    """These grow with the square of their length in a search that tries every division; they would not end here."""
    assert masked(text + " gpt-5.").endswith(f"{MODEL}.")


TEXTS = st.lists(
    st.tuples(st.text(min_size=1), st.integers(1, 5)),
    min_size=1,
    max_size=5,
    unique_by=lambda t: t[0],
)


@given(texts=TEXTS, seed=st.text(), data=st.data())
def test_the_order_in_which_texts_come_does_not_matter(
    texts: list[tuple[str, int]], seed: str, data: st.DataObject
) -> None:
    shown = drawn_text(texts, seed=seed)
    assert shown in {text for text, _ in texts}
    assert drawn_text(data.draw(st.permutations(texts)), seed=seed) == shown


def test_a_text_is_drawn_as_often_as_runs_gave_it() -> None:
    texts = [("one", 1), ("two", 3), ("three", 1)]
    drawn = [drawn_text(texts, seed=str(seed)) for seed in range(5_000)]
    found = [drawn.count(text) for text, _ in texts]
    assert chisquare(found, [1_000, 3_000, 1_000]).pvalue > 0.001
