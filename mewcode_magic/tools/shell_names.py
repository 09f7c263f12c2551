"""What is known of commands by their names, for rules: which run others, and which are always asked for."""

from __future__ import annotations

__all__ = ["BY_SUBCOMMAND", "NEVER_OFFERED", "OFFERED_EXACTLY", "READERS", "RUNNERS", "SHELLS"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


RUNNERS = _names(
    "builtin busybox caffeinate chronic chroot chrt command conda coproc dbus-run-session docker doas "
    "dumb-init eatmydata entr env exec fakeroot faketime firejail flock function gdb gosu hatch hyperfine "
    "ionice kubectl ld-linux-aarch64.so.1 ld-linux-x86-64.so.2 ld-linux.so.2 linux32 linux64 ltrace mamba "
    "nice nohup npm npx nsenter numactl parallel perf pipenv pixi pkexec pnpm podman poetry prlimit rlwrap "
    "rr run0 runuser screen script setarch setpriv setsid ssh start-stop-daemon stdbuf strace su su-exec "
    "sudo systemd-run taskset time timeout tini tmux torsocks toybox unbuffer unshare uv uvx valgrind watch "
    "wsl xargs xvfb-run yarn"
)
"""Commands that run another one, which stands among their words."""

SHELLS = _names("ash bash csh dash fish ksh mksh rbash sh tcsh zsh")
READERS = SHELLS | _names(". eval flock hyperfine parallel screen script source ssh su tmux trap watch")
"""Commands that read a word as a text for the shell."""

BY_SUBCOMMAND = _names(
    "brew bun cargo conda dvc gh git go jupyter mamba npm pip pip3 pipenv pixi pnpm poetry uv yarn"
)
"""Commands whose first argument says what they do; the rule that is offered holds for further arguments."""

OFFERED_EXACTLY = _names(
    "api auth checkout clean config create dlx exec filter-branch init publish push rebase reset restore rm "
    "run shell stash submodule tool x"
)
"""First arguments that run what follows, reach others, or lose work: offered for the very same words."""

NEVER_OFFERED = _names(
    ". ash awk bash bunx builtin chmod chown command cp crontab csh curl dash dd deno doas docker env eval "
    "exec fish gawk kill killall ksh kubectl ln mkfs mv nc ncat nice nohup npx parallel perl php pkill "
    "podman poweroff reboot rm rmdir rsync ruby scp script sed sftp sh shred shutdown source srm ssh su sudo "
    "systemctl tcsh tee telnet time timeout truncate unlink uvx watch wget xargs zsh"
)
"""Commands that delete, overwrite, reach the network, or run what they are given: each call is asked for."""
