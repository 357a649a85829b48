/** The tests of warnings about what a configuration shows, by the log and by the command `check`. */
import '../../inspection/scopes.test.js'
import '../../setup/warnings.test.js'
import '../../inspection/inspect.test.js'
