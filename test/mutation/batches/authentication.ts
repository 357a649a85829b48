/** The tests of logins and passwords. */
import '../../conformance/authentication.test.js'
import '../../security/logins.test.js'
import '../../policies/policies.test.js'
import '../../observability/events.test.js'
import '../../decisions/policies.test.js'
import '../../security/authentication.test.js'
