/** The tests of paths and filters, then all others. */
import '../../conformance/lists.test.js'
import '../../policies/scope-edges.test.js'
import '../../openapi/contents.test.js'
import '../../security/oracle.test.js'
import '../../decisions/policies.test.js'
import '../tests.js'
