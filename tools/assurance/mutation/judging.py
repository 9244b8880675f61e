"""What the tests say of a change: the nearest first, then all others."""

import os
import re

import work


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


def seconds_of_suite():
    """Of processor, without any change; the suite has to pass. Kept while the program stays."""
    program, kept = os.path.join(work.BUILD, "dma_test"), os.path.join(work.WORK, "suite_seconds")
    if os.path.exists(kept) and os.path.getmtime(kept) > os.path.getmtime(program):
        return float(open(kept).read())
    code, output, took = tested("dma_test", ["--source-file-exclude=*tests/structure/*"], os.path.join(work.WORK, "run0"), 7200)
    if code != 0:
        raise SystemExit(output[-4000:] + "\nmutate: the suite fails without any change")
    with open(kept, "w") as file:
        file.write(f"{took:.0f}\n")
    return took


def verdict(site, folder, suite, number=None):
    """Of the change that is switched on by its number, or built in. One that takes some times longer than the whole suite does
    when nothing is changed does not end."""
    reached = os.path.join(folder, "reached")
    if os.path.exists(reached):
        os.remove(reached)
    variables = {} if number is None else {"DMA_MUTANT": str(number), "DMA_MUTANT_REACHED": reached}
    for program, arguments in stages(site["file"]):
        if number is None and not work.build(program)[0]:
            return "does not compile"
        code, output, _ = tested(program, arguments, folder, 20 + 2 * suite, **variables)
        if code is None:
            return "caught: it does not end"
        if code != 0:
            found = re.findall(r"TEST CASE:\s*(.*)", output[:output.find("ERROR:")])  # messages name their case too
            return "caught: " + (found[-1].strip() if found else f"exit code {code}")
    return "SURVIVED" if number is None or os.path.exists(reached) else "not reached"
