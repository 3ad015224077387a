import BackgrounderCommands

await RootCommand.runAndExit()
