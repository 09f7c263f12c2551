"""The settings: traits of one class, `MewCode`, and what wins where several places set one.

An option on a magic's line, `%config MewCode.x`, `MEWCODE_X` in the environment, `c.MewCode.x` in
`ipython_config.py`, and the default, in this order.
"""

from __future__ import annotations

import copy
import math
import os
from pathlib import Path
from typing import Any

from traitlets import Bool, CInt, Enum, Float, List, TraitError, Unicode, validate
from traitlets.config import Config, Configurable

from mewcode_magic.errors import SettingError
from mewcode_magic.files import absolute

__all__ = ["MewCode"]

DEFAULT_HOME = "~/.mewcode"

MOST_DAYS = 36_500
"""A hundred years, which is as good as never; longer spans lead out of the calendar."""


class SettingFixed(SettingError, TraitError):
    """A folder cannot be changed any more; traitlets takes a value back only after a TraitError."""


class MewCode(Configurable):
    """Settings of MewCode for notebooks.

    Raises:
        SettingError: a `MEWCODE_…` variable of the environment has a value that its trait does not take.
    """

    project_dir = Unicode(
        "",
        help="The project's folder. Empty: found from the working directory. Fixed once the extension loads.",
    ).tag(config=True)
    home = Unicode(
        DEFAULT_HOME,
        help="The MewCode folder: personal instructions and memories. Fixed once the extension is loaded.",
    ).tag(config=True)

    model = Unicode(
        "",
        help="The model's name. Empty: the default Claude model if a key or ANTHROPIC_BASE_URL is set, "
        "else the offline answers. 'offline' forces those.",
    ).tag(config=True)
    side_model = Unicode(
        "",
        help="The model that recalls, extracts and summarizes. Empty: the default small Claude model; at "
        "another ANTHROPIC_BASE_URL, the main one.",
    ).tag(config=True)
    max_tokens = CInt(16_000, min=1, help="Most tokens of one reply.").tag(config=True)
    max_rounds = CInt(50, min=1, help="Most rounds of calls in one turn; then it stops and says so.").tag(
        config=True
    )

    context_window = CInt(
        0, min=0, max=100_000_000, help="Tokens of the model's window. 0: by the model's name."
    ).tag(config=True)
    auto_compact = Bool(
        True,
        help="Whether a conversation that nears the window is compacted by itself. False: one that has "
        "nearly filled it takes no prompt before %compact.",
    ).tag(config=True)
    output_reserve_tokens = CInt(
        20_000, min=0, help="Tokens of the window that are left free for a reply."
    ).tag(config=True)
    auto_compact_safety_margin = CInt(
        13_000, min=0, help="Tokens below window and reserve at which a conversation is compacted by itself."
    ).tag(config=True)
    manual_compact_safety_margin = CInt(
        3_000, min=0, help="Tokens below window and reserve from which on no prompt is taken uncompacted."
    ).tag(config=True)
    max_failed_compactions = CInt(
        3, min=1, help="Failures in a row after which no conversation is compacted by itself any more."
    ).tag(config=True)
    keep_recent_turns = CInt(10, min=0, help="Turns that a compaction keeps word for word, at most.").tag(
        config=True
    )
    keep_recent_tokens = CInt(
        10_000, min=0, help="Tokens of the latest messages that a compaction keeps word for word."
    ).tag(config=True)
    min_keep_messages = CInt(
        5, min=1, help="Messages that a compaction keeps even if they are more tokens or turns."
    ).tag(config=True)
    keep_max_tokens = CInt(
        40_000, min=0, help="Tokens that a compaction keeps at most; the last message always stays."
    ).tag(config=True)
    min_summarize_prefix_tokens = CInt(
        2_000, min=0, help="Tokens before the kept messages below which a compaction is not worth its cost."
    ).tag(config=True)

    permission_mode = Enum(
        ["ask", "read-only", "accept-edits", "auto"],
        default_value="ask",
        help="'ask': the agent asks before it writes, runs, or reads outside the project. 'read-only': it "
        "writes and runs nothing. 'accept-edits': it edits the project's files without asking. 'auto': it "
        "never asks.",
    ).tag(config=True)
    allow = List(
        Unicode(),
        help="Rules for what needs no question, such as 'Bash(git diff *)' or 'EditFile(notes/**)'; in the "
        "environment with semicolons between them.",
    ).tag(config=True)
    deny = List(
        Unicode(),
        help="Rules for what is never done, in every mode, such as 'Bash(rm *)' or 'ReadFile(.env)'.",
    ).tag(config=True)

    rerun = Enum(
        ["replay", "ask", "fresh"],
        default_value="replay",
        help="What a cell does that an earlier kernel ran, once its session is resumed. 'replay': it shows "
        "the recorded answer. 'ask': it asks you which; with nobody there it shows it. 'fresh': it asks the "
        "model again.",
    ).tag(config=True)

    share_activity = Bool(
        True,
        help="Whether the agent is told what you ran since its last turn, and sent the figures displayed.",
    ).tag(config=True)
    share_values = Bool(
        True,
        help="Whether the agent sees values of your variables. False: schemas and shapes only, never a value "
        "of your data.",
    ).tag(config=True)

    bash_timeout_seconds = Float(
        120.0,
        min=0.1,
        max=3_600,
        help="Seconds that a command of the agent may run, unless it asks for more.",
    ).tag(config=True)
    bash_output_chars = CInt(
        40_000,
        min=1_000,
        max=1_000_000,
        help="Most characters of a command's output that the agent sees; of more it sees both ends.",
    ).tag(config=True)

    result_max_chars = CInt(
        50_000,
        min=2_000,
        help="Most characters of one tool result in the conversation; a longer one moves to a file under "
        ".mewcode/session/tool-results, and a preview that names it takes its place.",
    ).tag(config=True)
    all_results_max_chars = CInt(
        200_000,
        min=2_000,
        help="Characters of all tool results together, past which those before the last turn are shortened "
        "evenly by turn, to half of it.",
    ).tag(config=True)
    trim_after_turns = CInt(
        10,
        min=1,
        help="Turns after which long tool results are shortened and images left out, that many at a time.",
    ).tag(config=True)
    trim_min_chars = CInt(
        2_048, min=0, help="Characters of an old tool result that is not shortened; a longer one is."
    ).tag(config=True)
    trim_preview_chars = CInt(
        200, min=0, help="Characters that are left of an old tool result when it is shortened."
    ).tag(config=True)

    session_dialect = Enum(
        ["role", "typed"],
        default_value="role",
        help="How new session files are written; the terminal program lists and resumes only 'typed' ones.",
    ).tag(config=True)
    session_max_age_days = CInt(
        30,
        min=0,
        max=MOST_DAYS,
        help="Days without activity after which a session moves to the trash. 0: never.",
    ).tag(config=True)
    time_gap_hours = Float(
        24.0,
        min=0,
        max=MOST_DAYS * 24,
        help="Hours since the last record after which a resumed agent is told of the gap.",
    ).tag(config=True)

    index_max_lines = CInt(200, min=1, help="Most lines of each memory index in a request.").tag(config=True)
    index_max_bytes = CInt(25_600, min=100, help="Most bytes of each memory index in a request.").tag(
        config=True
    )
    index_warn_ratio = Float(
        0.9, min=0, max=1, help="Share of an index's limits at which a save asks to condense it."
    ).tag(config=True)
    recall = Bool(True, help="Whether memories that fit a prompt are put in front of it.").tag(config=True)
    recall_max_files = CInt(200, min=0, help="Most memories considered for recall, the newest.").tag(
        config=True
    )
    recall_max_picks = CInt(5, min=0, help="Most memories put in front of one prompt.").tag(config=True)
    recall_seconds = Float(
        8.0,
        min=0,
        max=600,
        help="Seconds that a model has to choose memories, then their words decide. 0: they always do.",
    ).tag(config=True)
    recall_prompt_chars = CInt(2_000, min=1, help="Characters of the prompt that recall looks at.").tag(
        config=True
    )
    extract = Enum(
        ["background", "wait", "off"],
        default_value="background",
        help="When memories are extracted from a turn: behind the next cells, before the cell ends, or "
        "never. Without a user (nbconvert, papermill) the cell waits.",
    ).tag(config=True)
    memory_tool = Enum(
        ["mewcode", "anthropic"],
        default_value="mewcode",
        help="The tool by which the agent saves: 'mewcode' is Remember; 'anthropic' is the API's own, "
        "memory_20250818, over the same folders.",
    ).tag(config=True)
    stale_after_days = Float(
        1.0,
        min=0,
        max=MOST_DAYS,
        help="Days after which a recalled memory carries a warning to verify it.",
    ).tag(config=True)
    trash_days = CInt(
        30,
        min=0,
        max=MOST_DAYS,
        help="Days for which deleted memories and sessions can be restored; at most 36,500.",
    ).tag(config=True)
    include_depth = CInt(5, min=0, help="Deepest nesting of @include in instruction files.").tag(config=True)
    include_max_bytes = CInt(
        100_000, min=1, help="Most bytes of one instruction file or included file; larger ones are left out."
    ).tag(config=True)
    instructions_max_bytes = CInt(
        200_000,
        min=1,
        help="Most bytes of all instruction files together, the highest kept; others are left out.",
    ).tag(config=True)
    instruction_fallbacks = List(
        Unicode(),
        ["AGENTS.md", "CLAUDE.md"],
        help="Files of other agents that instruct where a project has no MEWCODE.md: the first that exists. "
        "In the environment with semicolons between them.",
    ).tag(config=True)

    def __init__(self, **kwargs: Any) -> None:
        self._fixed: dict[str, str] = {}
        super().__init__(**kwargs)
        for name, trait in self.traits(config=True).items():
            variable = f"MEWCODE_{name.upper()}"
            text = os.environ.get(variable)
            if text is None:
                continue
            try:
                self.set_trait(name, _split(text) if isinstance(trait, List) else trait.from_string(text))
            except (TraitError, ValueError) as error:
                raise SettingError(f"{variable} is {text!r}, which does not fit: {trait.help}") from error

    def fix_places(self) -> None:
        """From now on `project_dir` and `home` cannot be changed: open files hang on them."""
        self._fixed = {"project_dir": self.project_dir, "home": self.home}

    def update_config(self, config: Config) -> None:
        """Take over what `%config` sets.

        The shell takes it over too, before or after, and the next load gets it from there: what is refused
        is taken out again.

        Raises:
            TraitError: a value does not fit, or cannot be changed any more.
        """
        try:
            super().update_config(config)
        except TraitError:
            section = type(self).__name__
            config.pop(section, None)
            if self.parent is not None:
                self.parent.config[section] = copy.deepcopy(self.config[section])
            raise

    @validate(
        "bash_timeout_seconds", "time_gap_hours", "index_warn_ratio", "recall_seconds", "stale_after_days"
    )
    def _refuse_nan(self, proposal: Any) -> Any:
        if math.isnan(proposal.value):  # no limit keeps it out, for it compares with nothing
            raise TraitError(f"MewCode.{proposal.trait.name} must be a number")
        return proposal.value

    @validate("project_dir", "home")
    def _keep_places(self, proposal: Any) -> Any:
        name = proposal.trait.name
        # During `%config` the trait already has the new value, so the old one is kept apart.
        if proposal.value != self._fixed.get(name, proposal.value):
            raise SettingFixed(
                f"MewCode.{name} is fixed when the extension loads; set MEWCODE_{name.upper()} or the "
                "configuration file, then restart the kernel, or use %reload_ext mewcode"
            )
        return proposal.value

    @property
    def home_path(self) -> Path:
        """The MewCode folder, absolute.

        Raises:
            SettingError: it begins with the `~` of an unknown user.
        """
        return absolute(self.home or DEFAULT_HOME)


def _split(text: str) -> list[str]:
    """Return the items of a list as the environment has them: a semicolon stands between two."""
    return [item.strip() for item in text.split(";") if item.strip()]
