"""Token ids of questions and answers, as training, evaluation and use all build them."""

from typing import Any

_MARKS = ("\u2063QUESTION\u2063", "\u2063ANSWER\u2063")


class Prompts:
    """The base model's own chat template, default system turn included, around a question."""

    def __init__(self, tokenizer: Any) -> None:
        """Cuts at special tokens only, so that ids of the parts are those of the whole."""
        self._tokenizer = tokenizer
        question, answer = _MARKS
        asked = [{"role": "user", "content": question}]
        head, self._tail = self._render(asked, prompt=True).split(question)
        special = {index: token.content for index, token in tokenizer.added_tokens_decoder.items() if token.special}
        cut = max([0, *(head.rfind(token) for token in special.values())])
        self.prefix = self._ids(head[:cut])  # the default system turn: the same for every question
        self._head = head[cut:]
        self.asking = self._ids(self._head)  # the header of the user's turn
        whole = self._render([*asked, {"role": "assistant", "content": answer}], prompt=False)
        after = self._ids(whole.split(answer)[1].lstrip())
        # the token that ends a turn of the assistant
        self.end: int = after[0] if after and after[0] in special else tokenizer.eos_token_id

    def question(self, text: str) -> list[int]:
        """Ids that follow `prefix`: the user's turn and the header of the answer."""
        return self._ids(self._head + text + self._tail)

    def answer(self, text: str) -> list[int]:
        """Ids of an answer and its end-of-turn token.

        After a space, as it mostly stands in a document: there and here it is made of the same tokens, and an adapter
        need not learn to spell.
        """
        return [*self._ids(" " + text), self.end]

    def plain(self, text: str) -> list[int]:
        """Ids of text outside of any chat."""
        return self._ids(text)

    def with_document(self, document: str, question: str) -> list[int]:
        """The teacher's ids after `prefix`: the document in the prompt, before the question (section 11.3)."""
        return self.question(f"# Provided Information\n{document}\n---\n{question}")

    def text(self, ids: list[int]) -> str:
        """Ids of an answer as text, without its end and the space before it."""
        return str(self._tokenizer.decode(ids, skip_special_tokens=True)).removeprefix(" ")

    def _render(self, messages: list[dict[str, str]], *, prompt: bool) -> str:
        text: str = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=prompt)
        return text

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"] if text else []
        return ids
