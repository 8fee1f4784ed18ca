"""PTX that a program has at hand, before it goes to the driver."""

import ptxopt

with open("blend.ptx") as file:
    text = file.read()
better = ptxopt.optimize(text, gpu="sm_86")
assert "vavrg4" in text and "vavrg4" not in better
assert ptxopt.optimize(text.encode(), "sm_86") == better.encode()
assert ptxopt.optimize(text, options=["--passes", ""]) == text
with open("library.ptx", "w") as file:
    file.write(better)

# Bytes that are not text come back as they were.
odd = text.encode() + b"// \xff\r\n"
assert ptxopt.optimize(odd, options=["--passes", ""]) == odd

# The result is returned: it goes nowhere else.
for options in [["-o", "x"], ["-ox"], ["--output=x"], ["--out-dir", "x"], ["--check-output", "blend.ptx"], ["-vo", "x"], ["--help"]]:
    try:
        ptxopt.optimize(text, options=options)
    except ValueError as error:
        assert options[0] in str(error) or isinstance(error, ptxopt.Error), error
    else:
        raise AssertionError(options)

for wrong, gpu, why in [
    (text.replace("vmax4", "vmax4.b32"), "sm_86", "<stdin>:23:"),
    (text, "sm_9000", "there is no such GPU"),
    (text, "sm_70", "does not run on sm_70"),
]:
    try:
        ptxopt.optimize(wrong, gpu)
    except ptxopt.Error as error:
        assert why in str(error), error
    else:
        raise AssertionError(why)
