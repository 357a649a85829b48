/** The tests of owners, guards and operations, then all others. */
import '../../security/authorization.test.js'
import '../../security/browsers.test.js'
import '../../policies/policies.test.js'
import '../../policies/refusals.test.js'
import '../../policies/scope-edges.test.js'
import '../../setup/start-up.test.js'
import '../tests.js'
