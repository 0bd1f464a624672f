"""The NDJSON protocol of `packages/contracts/src/worker.ts`: a test compares every field with the schemas there."""

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

PROTOCOL = 1
MAX_LINE_BYTES = 128 * 2**20  # a chat of 64 MiB, and what JSON adds

JOB_ID = r"^[0-9a-hjkmnp-tv-z]{26}\Z"
SESSION_ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z"
ADAPTER_ID = r"^[a-z0-9][a-z0-9._-]{0,63}\Z"

WITHIN = r"^[1-9][0-9]{0,4}[smh]\Z"

JobId = Annotated[str, Field(pattern=JOB_ID)]
SessionId = Annotated[str, Field(pattern=SESSION_ID)]
Seed = Annotated[int, Field(ge=0, le=2**32 - 1)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Strict(BaseModel):
    """Refuses unknown keys, and coerces nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, regex_engine="python-re")


class Turns(Strict):
    turns: list[Annotated[int, Field(ge=0)]]


TrainOn = Literal["all", "successful_steps", "final_answer"] | Turns


Profile = Literal["remember", "learn"]
Holdout = (
    Literal["auto", "none"]
    | Annotated[float, Field(gt=0, le=0.5)]
    | Annotated[list[SessionId], Field(min_length=1, max_length=1000)]
)


class UnreadableSession(Strict):
    session_id: SessionId
    message: str


Rank = Annotated[int, Field(ge=1, le=256)]
Passes = Annotated[int, Field(ge=1, le=100)] | None
Rate = Annotated[Finite, Field(gt=0, le=0.1)] | None


class WindowsSpec(Strict):
    """What a training and its preview share, but for rank and passes, of which a sweep has several."""

    session_paths: list[str]
    session_ids: list[SessionId]
    skip_invalid: bool
    unreadable: list[UnreadableSession]
    base_model: str
    profile: Profile
    holdout: Holdout
    max_length: Annotated[int, Field(ge=64)] | None
    include_unsuccessful: bool
    train_on: TrainOn
    reasoning: bool
    target_modules: list[str] | None
    quantization: Literal["nf4", "none"]


class PreviewSpec(WindowsSpec):
    epochs: Passes
    within: Annotated[str, Field(pattern=WITHIN)] | None
    rank: Rank


class CheckpointSpec(Strict):
    dir: str
    seconds: Finite = Field(ge=0)
    start: Literal["fresh", "resume", "salvage"]


class TrainLoraSpec(PreviewSpec):
    adapter_id: str = Field(pattern=ADAPTER_ID)
    output_dir: str
    base_model_name: str
    task_type: str
    seed: Seed
    alpha: Finite = Field(gt=0)
    learning_rate: Rate
    checkpoint: CheckpointSpec


class TrialSpec(Strict):
    rank: Rank
    alpha: Finite = Field(gt=0)
    learning_rate: Rate
    epochs: Passes


class TrainSweepSpec(WindowsSpec):
    adapter_id: str = Field(pattern=ADAPTER_ID)
    output_dir: str
    base_model_name: str
    task_type: str
    seed: Seed
    trials: list[TrialSpec] = Field(min_length=2)
    early_stopping: Literal["halving", "none"]
    checkpoint: CheckpointSpec


class TrainHypernetworkSpec(Strict):
    session_path: str
    session_id: str = Field(pattern=SESSION_ID)
    adapter_id: str = Field(pattern=ADAPTER_ID)
    output_dir: str
    base_model: str
    base_model_name: str
    hypernetworks_dirs: list[str]
    task_type: str
    seed: Seed
    include_unsuccessful: bool
    max_chunk_length: int | None
    scaling: Annotated[Finite, Field(gt=0)] | None
    max_chunks: int = Field(ge=1)
    compress_rank: int | None


class ExportSpec(Strict):
    adapter_id: str = Field(pattern=ADAPTER_ID)
    adapter_path: str
    base_model: str
    base_model_name: str
    format: Literal["gguf", "merged"]
    output_dir: str


class StagedSession(Strict):
    session_id: SessionId
    path: str


class StagedAdapter(Strict):
    adapter_id: str = Field(pattern=ADAPTER_ID)
    path: str


class EvaluateSpec(Strict):
    adapter_id: str = Field(pattern=ADAPTER_ID)
    adapter_path: str
    base_model: str
    base_model_name: str
    sessions: list[StagedSession] = Field(min_length=1)
    trained_on: list[StagedSession]
    control: StagedAdapter | None
    actions: int = Field(ge=0, le=200)
    seed: Seed
    cache_dir: str
    output_dir: str


class ChatToolCall(Strict):
    id: str
    name: str
    arguments: str


class ChatMessage(Strict):
    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: list[ChatToolCall]
    tool_call_id: str | None


class ChatTool(Strict):
    name: str
    description: str | None
    parameters: Any


class NamedTool(Strict):
    name: str


class ChatSpec(Strict):
    base_model: str
    adapter_path: str | None
    messages: list[ChatMessage]
    tools: list[ChatTool]
    tool_choice: Literal["auto", "required"] | NamedTool
    parallel_tool_calls: bool
    json_schema: Any
    max_tokens: Annotated[int, Field(ge=0)] | None
    temperature: Finite = Field(ge=0)
    top_p: Finite = Field(gt=0, le=1)
    top_k: int = Field(ge=0)
    min_p: Finite = Field(ge=0, le=1)
    enable_thinking: bool | None
    stop: list[str]
    seed: int = Field(ge=0)
    stream: bool


class TrainLora(Strict):
    type: Literal["train_lora"]
    job_id: JobId
    spec: TrainLoraSpec


class TrainSweep(Strict):
    type: Literal["train_sweep"]
    job_id: JobId
    spec: TrainSweepSpec


class TrainHypernetwork(Strict):
    type: Literal["train_hypernetwork"]
    job_id: JobId
    spec: TrainHypernetworkSpec


class Export(Strict):
    type: Literal["export"]
    job_id: JobId
    spec: ExportSpec


class Evaluate(Strict):
    type: Literal["evaluate"]
    job_id: JobId
    spec: EvaluateSpec


class Cancel(Strict):
    type: Literal["cancel"]
    job_id: JobId


class CancelCall(Strict):
    type: Literal["cancel_call"]
    call_id: str


class PreviewCall(Strict):
    type: Literal["preview"]
    call_id: str
    spec: PreviewSpec
    window: Annotated[int, Field(ge=1)] | None
    tokens_per_second: Annotated[Finite, Field(gt=0)] | None


class RenderCall(Strict):
    type: Literal["render"]
    call_id: str
    spec: ChatSpec


class ChatCall(Strict):
    type: Literal["chat"]
    call_id: str
    spec: ChatSpec


Job = TrainLora | TrainSweep | TrainHypernetwork | Export | Evaluate
Request = Annotated[Job | Cancel | CancelCall | PreviewCall | RenderCall | ChatCall, Field(discriminator="type")]
_requests: TypeAdapter[Request] = TypeAdapter(Request)


class MalformedLineError(ValueError):
    """A line that is no request; `answer` is the event to send back."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__(answer["error"]["message"])
        self.answer = answer


def parse_request(line: bytes) -> Request:
    """Raises MalformedLineError, whose answer is addressed to the job or call where the line names one."""
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedLineError(refusal({}, f"a line is not JSON: {type(error).__name__}")) from error
    try:
        return _requests.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the line"
        raise MalformedLineError(refusal(value, f"{place}: {first['msg']}")) from error


def refusal(value: Any, message: str) -> dict[str, Any]:
    """`failed` for a job that is named well enough, `call_failed` for anything else."""
    error = {"code": "WORKER_PROTOCOL", "message": message, "hint": HINT}
    fields = value if isinstance(value, dict) else {}
    job_id, call_id = fields.get("job_id"), fields.get("call_id")
    if fields.get("type") in JOBS and _is_job_id(job_id):
        return {"type": "failed", "job_id": job_id, "error": error}
    return {"type": "call_failed", "call_id": call_id if isinstance(call_id, str) else "", "error": error}


JOBS = ("train_lora", "train_sweep", "train_hypernetwork", "export", "evaluate")
HINT = "Trainer and service may be of different versions: imprint setup."


def _is_job_id(value: Any) -> bool:
    try:
        TypeAdapter(JobId, config=ConfigDict(strict=True, regex_engine="python-re")).validate_python(value)
    except ValidationError:
        return False
    return True


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
