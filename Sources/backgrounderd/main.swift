import BackgrounderDaemon

EntryPoint.run()
