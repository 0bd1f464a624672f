"""One recorded session in, one LoRA adapter out: all that Imprint's training does in its plain case, on one page.

    python examples/reference_lora.py SESSION.json MODEL_FOLDER OUTPUT_FOLDER

Needs transformers, peft and torch. SESSION.json is a canonical session (`packages/contracts/src/session.ts`). The plain
case: the session fits one window and one step, nothing is held out, the base is not quantised and computes in fp32, and the model's
chat template has no syntax of its own for tools. What this script does not do, it refuses. The product gives the same
adapter (`trainer/tests/test_reference.py`); what it does beyond this is under `trainer/src/imprint_trainer`.
"Rule" means the rules from a session to what is trained; `docs/training.md` has them at length.
"""

import argparse
import json
import math
import re
from pathlib import Path

import torch
import torch.nn.functional as F
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

RANK, ALPHA = 16, 32
WARM_UP = 0.06  # of the steps at most
TOKENS, READ, EPOCHS_AT_LEAST, EPOCHS_AT_MOST = 24_000, 100_000, 3, 40  # the budget of a training: targets, tokens
STEP = 682  # targets at most that one step learns from; of more, a window is learned in parts
LEARNED, IMPROVEMENT, PATIENCE, COOL_DOWN = 0.3, 0.02, 3, 0.8
SECRET = re.compile(r"<SECRET:[a-z0-9-]+>")  # what redaction writes in place of a secret


def lessons_of(steps):
    """1. Which turns are lessons: the agent's steps, each once, and none that is known to have failed (rules 1, 4)."""
    lessons, seen = set(), []
    for index, step in enumerate(steps):
        if step["source"] != "agent" or not (step.get("context_only") or says_something(step)):
            continue
        key = words(step), answered(steps[index - 1]) if index else None
        if key not in seen and not step.get("context_only"):
            lessons.add(index)
        seen.append(key)
    return lessons


def says_something(step):
    return bool(step["text"].strip() or step.get("tool_calls"))


def words(step):
    return (
        step["text"],
        [(call["name"], call["arguments"]) for call in step.get("tool_calls", ())],
        step.get("reasoning"),
    )


def answered(step):
    return step["source"], words(step), [one["content"] for one in step.get("observations", ())]


def messages_of(steps, lessons):
    """2. The session as chat messages: system text, task and turns, each with whether it is a lesson."""
    opening = next((index for index, step in enumerate(steps) if step["source"] == "user"), None)
    if opening is None:
        raise SystemExit("The session has no task.")
    before = [step["text"] for step in steps[:opening] if step["source"] == "system" and step["text"].strip()]
    found = [("system", "\n\n".join(before), False)] if before else []
    found.append(("user", steps[opening]["text"], False))
    for index, step in enumerate(steps[opening + 1 :], start=opening + 1):
        if step["source"] != "agent":
            found.append(("user", step["text"], False))
            continue
        calls = step.get("tool_calls", ())
        if says_something(step):
            text = "\n".join(part for part in (step["text"], *map(call_as_text, calls)) if part)
            found.append(("assistant", text, index in lessons))
        # What the tools gave back is the user's to say; the model never learns to write it (rules 1 and 2).
        ids = {call["id"] for call in calls}
        results = [one for one in step.get("observations", ()) if one["call_id"] in ids]
        if results:
            blocks = [f"<tool_response>\n{one['content']}\n</tool_response>" for one in results]
            found.append(("user", "\n".join(blocks), False))
        found += [("user", one["content"], False) for one in step.get("observations", ()) if one["call_id"] not in ids]
    return [({"role": role, "content": text}, lesson) for role, text, lesson in found]


def call_as_text(call):
    """The one fallback for templates without tools (rule 2)."""
    try:
        arguments = json.loads(call["arguments"])
    except ValueError:
        arguments = call["arguments"]
    arguments = arguments if isinstance(arguments, dict) else call["arguments"]
    text = json.dumps({"name": call["name"], "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{text}\n</tool_call>"


def window_of(session, tokenizer):
    """3. The window: ids [n] and a mask [n] of targets, by rendering growing prefixes of the conversation (rule 2)."""
    steps, template = session["steps"], tokenizer.chat_template
    if session["outcome"] == "failure":
        raise SystemExit("The session ended in failure (rule 4).")
    if session["tools"] or "tool_calls" in template or "strftime_now" in template:
        raise SystemExit("Not the plain case: a list of tools, or a template with tools or a clock.")
    talk = messages_of(steps, lessons_of(steps))
    controls = [re.escape(token.content) for token in tokenizer.added_tokens_decoder.values() if token.content.strip()]
    if any(re.search("|".join(controls), message["content"]) for message, _ in talk):
        raise SystemExit("Not the plain case: the session quotes a control token.")

    def render(count, prompt=False):
        messages = [message for message, _ in talk[:count]]
        options = {"add_generation_prompt": prompt, "enable_thinking": False}
        return tokenizer.apply_chat_template(messages, tokenize=False, **options)

    text, spans = render(len(talk)), []
    for index, (_, lesson) in enumerate(talk):
        if lesson:
            start = len(render(index, prompt=True))  # role headers are no targets
            written = render(index + 1)
            end = re.search(rf"((?:{'|'.join(controls)})+)\s*\Z", written)  # the token that ends the turn is one
            if not end or text[:start] != render(index, prompt=True) or text[: end.end(1)] != written[: end.end(1)]:
                raise SystemExit("The template writes a turn differently once others follow, or does not end it.")
            spans.append((start, end.end(1)))
    if not spans:
        raise SystemExit("NOTHING_TO_TRAIN (rule 4)")
    text = text[: spans[-1][1]]  # nothing learns from what follows the last lesson
    found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    secrets = [match.span() for match in SECRET.finditer(text)]
    mask = [
        any(start <= first < stop for start, stop in spans)
        and not any(last > start and first < stop for start, stop in secrets)  # rule 8
        for first, last in found["offset_mapping"]
    ]
    if sum(mask[1:]) > STEP:
        raise SystemExit("Not the plain case: the session has more targets than one step learns from.")
    return found["input_ids"], mask


def rate_of(step, peak, max_epochs, cooling):
    """4. The learning rate: up in a line, constant, down in a line. One window, so that a step is an epoch."""
    warm_up = max(1, math.ceil(WARM_UP * max_epochs))
    if step in cooling:
        return peak * (cooling.stop - step) / (len(cooling) + 1)
    return peak * ((step + 1) / warm_up) if step < warm_up else peak


def is_enough(losses, max_epochs):
    """5. When it is enough (rule 6): most is learned, nothing improves, or the cool-down needs the rest."""
    best, stale = float("inf"), 0
    for loss in losses:
        stale = 0 if loss < best * (1 - IMPROVEMENT) else stale + 1
        best = min(best, loss)
    spent = len(losses) + math.ceil(COOL_DOWN * len(losses)) >= max_epochs
    return losses[-1] <= LEARNED * losses[0] or stale >= PATIENCE or spent


def train(model, ids, mask, seed, rank=RANK, alpha=ALPHA, peak=None):
    """6. The training: the PEFT model, trained."""
    head, width = model.get_output_embeddings(), model.config.hidden_size
    linear = [name for name, one in model.named_modules() if isinstance(one, torch.nn.Linear) and one is not head]
    targets = sorted({name.rsplit(".", 1)[-1] for name in linear})
    peak = peak or 1e-3 * math.sqrt(576 / max(width, 576))  # wider bases take less
    model.requires_grad_(False)
    torch.manual_seed(seed)  # before the adapter is made: its A is random (rule 10)
    config = LoraConfig(r=rank, lora_alpha=alpha, target_modules=targets, lora_dropout=0.0, task_type="CAUSAL_LM")
    model = get_peft_model(model, config).train()
    parameters = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=peak, betas=(0.9, 0.999), weight_decay=0.0)

    inputs = torch.tensor([ids[:-1]])
    targets = torch.tensor([token if on else -100 for token, on in zip(ids[1:], mask[1:], strict=True)])
    max_epochs = epochs = min(EPOCHS_AT_MOST, max(EPOCHS_AT_LEAST, min(TOKENS // sum(mask[1:]), READ // len(ids))))
    losses, cooling = [], range(0)
    while len(losses) < epochs:
        logits = model(input_ids=inputs, use_cache=False).logits[0]
        loss = F.cross_entropy(logits.float(), targets, reduction="sum") / sum(mask[1:])  # the mean of targets (rule 7)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.param_groups[0]["lr"] = rate_of(len(losses), peak, max_epochs, cooling)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())
        print(f"step {len(losses)}  loss {losses[-1]:.4f}")
        if not cooling and is_enough(losses, max_epochs):
            epochs = min(epochs, len(losses) + math.ceil(COOL_DOWN * len(losses)))
            cooling = range(len(losses), epochs)
    return model


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("session", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-length", type=int, default=1024, help="tokens of a window")
    arguments = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    ids, mask = window_of(json.loads(arguments.session.read_text("utf-8")), tokenizer)
    if len(ids) > arguments.max_length:
        raise SystemExit(f"Not the plain case: the session has {len(ids)} tokens, a window {arguments.max_length}.")
    base = AutoModelForCausalLM.from_pretrained(arguments.model, dtype=torch.float32)
    train(base, ids, mask, arguments.seed).save_pretrained(arguments.output)
