import Glibc

exit(BacklineProgram.run(CommandLine.arguments))
