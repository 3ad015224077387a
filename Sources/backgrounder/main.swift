import BackgrounderCommands

RootCommand.runAndExit()
