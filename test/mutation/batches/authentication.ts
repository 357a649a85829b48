/** The tests of logins and passwords, then all others. */
import '../../conformance/authentication.test.js'
import '../../policies/policies.test.js'
import '../../security/logins.test.js'
import '../../decisions/policies.test.js'
import '../../setup/start-up.test.js'
import '../tests.js'
