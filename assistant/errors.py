"""Everything Rootrank can refuse to do, as one tree.

RootrankError
  UsageError            the command line asks for something that does not fit together
  InputError            nothing could be read
    NothingFound        the paths hold no log
    NotALog             what was found is not text
    SeveralJobs         a folder holds several jobs; one must be chosen
  ConfigError           a configuration file or value is wrong
    KnowledgeError      a data file under knowledge/ is wrong
    StoreError          the data folder cannot be used
    UnknownBaseline     no baseline of that name
    NotHealthy          a run offered as a baseline did not end well
    UnknownCase         no stored case of that name
    BadTruth            a truth file of an evaluation set is wrong
    NotInstalled        a library of an optional part is missing
  RemoteError             a service elsewhere did not answer as it should
    VectorServerError     the shared vector server
    EmbeddingError        the embeddings endpoint
  ModelError              the endpoint of a language model; see below for its leaves

Every leaf carries a message (what happened) and a hint (what to do about it).
"""

from __future__ import annotations


class RootrankError(Exception):
    """Base of all errors that a user may see; printed as two lines, never as a traceback."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """An error survives the way from a worker process."""
        return _again, (type(self), self.message, self.hint), vars(self)


def _again(kind: type[RootrankError], message: str, hint: str) -> RootrankError:
    return kind(message, hint=hint)


class UsageError(RootrankError):
    """The command line asks for something that does not fit together."""


class InputError(RootrankError):
    """Nothing of the input could be read."""


class NothingFound(InputError):
    """The given paths hold no readable log."""


class NotALog(InputError):
    """What was found is binary or otherwise not log text."""


class SeveralJobs(InputError):
    """A folder holds several jobs; the message lists them."""


class ConfigError(RootrankError):
    """A configuration file or value is wrong; names the file and the key."""


class KnowledgeError(ConfigError):
    """A data file under `knowledge/` is wrong; names the file and the entry."""


class StoreError(ConfigError):
    """The data folder cannot be read or written."""


class NewerStore(StoreError):
    """A store was written by a newer version of Rootrank."""


class StoreBusy(StoreError):
    """Another process holds the lock of a store."""


class ModelMissing(ConfigError):
    """An embedding model, or the library that runs it, is not installed."""


class ModelChanged(ConfigError):
    """The weights of an embedding model are not those that were published."""


class UnknownDocument(ConfigError):
    """No document of that id in the knowledge."""


class UnknownBaseline(ConfigError):
    """No baseline of that name is stored."""


class NotHealthy(ConfigError):
    """A run offered as a baseline did not end well."""


class UnknownCase(ConfigError):
    """No stored case of that name."""


class UnknownSession(ConfigError):
    """No stored session of that name."""


class UnknownIncident(ConfigError):
    """No stored incident of that name."""


class UnknownProposal(ConfigError):
    """No proposed signature of that name."""


class NothingToLearn(ConfigError):
    """A case gives no signature that tells it from healthy runs."""


class SessionBusy(ConfigError):
    """Another process writes that session."""


class NotInstalled(ConfigError):
    """A library of an optional part is missing; the hint says how that part is installed."""


class BadTruth(ConfigError):
    """A truth file, or a job it names, cannot be scored; names file and job."""


class RemoteError(RootrankError):
    """A service elsewhere did not answer as it should; names its address."""


class VectorServerError(RemoteError):
    """The shared vector server is away, refuses, or holds something else."""


class EmbeddingError(RemoteError):
    """The embeddings endpoint is away, refuses, or answers something else."""


class ModelError(RootrankError):
    """The endpoint of a language model did not answer as it should; each leaf has a remedy of its own."""


class NoKey(ModelError):
    """A profile names a key, and there is none."""


class WrongKey(ModelError):
    """The endpoint refuses the key, or what the key may do."""


class EndpointAway(ModelError):
    """No connection: wrong address, no such host, nobody listens, a certificate that is not trusted."""


class NoSuchModel(ModelError):
    """The endpoint has no such model, or no such path."""


class RateLimited(ModelError):
    """The endpoint takes no more requests for now."""


class EndpointFault(ModelError):
    """The endpoint reports an error of its own, or refuses the request."""


class EndpointSlow(ModelError):
    """The endpoint did not answer in time."""


class AnswerCut(ModelError):
    """The answer broke off."""


class AnswerGarbled(ModelError):
    """What came back is not what the protocol says."""


class AnswerEmpty(ModelError):
    """The model said nothing."""


class AnswerOddForm(ModelError):
    """The model answers, but not in sentences: a tool call or an object that nobody asked for."""


class AnswerRepeats(ModelError):
    """The model says the same again and again."""


class AnswerUnfounded(ModelError):
    """Nothing of what the model states about the job rests on evidence."""


class EndlessCalls(ModelError):
    """The model asks tools without end and does not answer."""


class WindowFull(ModelError):
    """Question and evidence do not fit the model's context window."""

    window: int | None = None
    """The window in tokens, where the endpoint tells it."""


class CannotDo(ModelError):
    """The endpoint lacks an ability that was asked for."""


class BudgetSpent(ModelError):
    """A bound on tokens, time or money is reached."""


class UnknownProfile(ConfigError):
    """No model profile of that name is configured."""


class PromptError(ConfigError):
    """A prompt under `prompts/` is missing or wrong; names the file."""
