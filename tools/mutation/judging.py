"""What the tests say of a change: the nearest first, then all others."""

import os
import re
import threading

import work

times = {}
times_lock = threading.Lock()


def stages(path):
    """From the nearest tests to all others, each a program and its arguments. The layer's own is built much sooner."""
    layer, folder, name = path.split("/")[0], os.path.dirname(path), os.path.splitext(os.path.basename(path))[0]
    before = ["*tests/structure/*"]
    for nearer in dict.fromkeys((f"*tests/{folder}/{name}*", f"*tests/{folder}/*", f"*tests/{layer}/*", "*")):
        program = "dma_test" if nearer == "*" else f"dma_test_{layer}"
        yield program, [f"--source-file={nearer}", f"--source-file-exclude={','.join(before)}"]
        before.append(nearer)


def tested(program, arguments, folder, seconds, **variables):
    command = [os.path.join(work.BUILD, program), "--abort-after=1", "--no-colors", *arguments]
    return work.run(command, seconds, folder, **variables)


def allowed(program, arguments, folder):
    """Seconds of processor that a stage may take: many times what it takes unchanged, which is measured once."""
    key = (program, *arguments)
    with times_lock:
        known = times.get(key)
    if known is None:
        code, output, took = tested(program, arguments, folder, 3600)
        if code != 0:
            raise SystemExit(output + "mutate: the suite fails without any change")
        with times_lock:
            known = times[key] = took
    return 20 + 5 * known


def verdict(site, folder, number=None):
    """Of the change that is switched on by its number, or built in."""
    variables = {} if number is None else {"DMA_MUTANT": str(number)}
    for program, arguments in stages(site["file"]):
        if number is None and not work.build(program)[0]:
            return "does not compile"
        seconds = times.get((program, *arguments), 600) * 5 + 20 if number is None else allowed(program, arguments, folder)
        code, output, _ = tested(program, arguments, folder, seconds, **variables)
        if code is None:
            return "caught: it does not end"
        if code != 0:
            found = re.search(r"TEST CASE:\s*(.*)", output)
            return "caught: " + (found.group(1).strip() if found else f"exit code {code}")
    return "SURVIVED"
