/** The tests of policies, users and scopes, then all others. */
import '../../policies/policies.test.js'
import '../../policies/host-auth.test.js'
import '../../policies/scopes.test.js'
import '../../setup/start-up.test.js'
import '../../security/authorization.test.js'
import '../tests.js'
