"""The copy of the sources that is changed, built and tested: build/mutate. The sources themselves are never touched."""

import os
import resource
import shutil
import signal
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
WORK = os.path.join(ROOT, "build", "mutate")
COPY, BUILD = (os.path.join(WORK, name) for name in ("source", "build"))
MUTATED = ["engine", "factors", "schedules", "models"]
COPIED = MUTATED + ["tests", "tools", "CMakeLists.txt", "README.md"]
MEMORY = 8 << 30


def read(relative):
    with open(os.path.join(ROOT, relative)) as file:
        return file.read()


def write(relative, content, mode_of=None):
    """Only what is new, so that the build stays incremental."""
    target = os.path.join(COPY, relative)
    if os.path.exists(target) and open(target, "rb").read() == content:
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(content)
    if mode_of:
        shutil.copymode(mode_of, target)


def copy_sources(instead):
    """Copies the sources, with the texts of `instead` (by path) for those of some."""
    wanted = set()
    for name in COPIED:
        source = os.path.join(ROOT, name)
        found = [source] if os.path.isfile(source) else [os.path.join(f, n) for f, _, names in os.walk(source) for n in names]
        for file in found:
            if "__pycache__" in file:
                continue
            relative = os.path.relpath(file, ROOT)
            wanted.add(relative)
            content = instead[relative].encode() if relative in instead else open(file, "rb").read()
            write(relative, content, file)
    for folder, _, names in os.walk(COPY):
        for name in names:
            if os.path.relpath(os.path.join(folder, name), COPY) not in wanted:
                os.remove(os.path.join(folder, name))


def run(command, seconds=None, folder=None, **variables):
    """Exit code, output and the seconds of processor it took; no code when `seconds` of processor were not enough: those do
    not depend on what else the machine does."""
    folder = folder or BUILD
    os.makedirs(os.path.join(folder, "tmp"), exist_ok=True)
    environment = {**os.environ, **variables, **({"TMPDIR": os.path.join(folder, "tmp")} if folder != BUILD else {})}

    def limited():
        if seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))  # not of addresses: browsers reserve terabytes
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True, preexec_fn=limited)
    try:
        # One that sleeps uses no processor: a generous limit by the clock is for that.
        output, _ = process.communicate(timeout=20 * seconds + 600 if seconds else None)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "", seconds
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    ended_by_limit = process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    return None if ended_by_limit else process.returncode, output.decode(errors="replace"), took


def configure():
    if os.path.exists(os.path.join(BUILD, "build.ninja")) or os.path.exists(os.path.join(BUILD, "Makefile")):
        return
    os.makedirs(BUILD, exist_ok=True)
    ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
    mold = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold"] if shutil.which("mold") else []
    flags = f"-O1 -DNDEBUG -w -Wno-narrowing -include {os.path.join(WORK, 'switch.h')}"
    code, output, _ = run(["cmake", "-S", COPY, "-B", BUILD, *ninja, *mold, "-DCMAKE_CXX_FLAGS_RELEASE=" + flags,
                           "-DDMA_BUILD_PYTHON=OFF"])
    if code != 0:
        raise SystemExit(output + "mutate: configuration failed")


def build(*programs):
    """Whether all could be built, and what the compiler said; goes on after the first error, to know them all."""
    going_on = ["--", "-k", "0"] if shutil.which("ninja") else ["--", "-k"]
    code, output, _ = run(["cmake", "--build", BUILD, "--parallel", str(os.cpu_count()), "--target", *programs, *going_on])
    return code == 0, output
