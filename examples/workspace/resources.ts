import { userAuth, type Operation, type ResourceRegistry, type UserOf } from 'fastify-rest-models'
import { audit, companyOfProject, companyOfTask } from './audit.js'
import { Audit, Comment, Company, Member, Project, Task } from './models.js'
import { protectMembers, requireAssignee, requireOpenProject } from './rules.js'

type User = UserOf<typeof Member, 'company' | 'role'>

const isRead = (operation: Operation): boolean => operation === 'list' || operation === 'read'
const isManager = (user: User): boolean => user.admin || user.role === 'manager'

/** Members log in even to read. Their company and their role are known to the rules below. */
const login = { protect: 'all', fields: ['company', 'role'] } as const

const membersWrite = userAuth(Member, login)
const managersWrite = userAuth(Member, { ...login, permits: (user, operation) => isRead(operation) || isManager(user) })
const adminsWrite = userAuth(Member, { ...login, permits: (user, operation) => isRead(operation) || user.admin })
const managersRead = userAuth(Member, { ...login, permits: (user, operation) => isRead(operation) && isManager(user) })

/** Registers the resources. Members see their own company, and admins see all of them. */
export function registerResources (resources: ResourceRegistry): void {
  resources.register(Company, {
    auth: adminsWrite,
    scope: (user) => user.admin ? {} : { id: user.company }
  })
  resources.register(Member, {
    auth: managersWrite,
    scope: (user) => user.admin ? {} : { company: user.company },
    exclude: ['password'],
    readOnly: ['admin'],
    search: ['username', 'full_name'],
    beforeWrite: protectMembers
  })
  resources.register(Project, {
    auth: managersWrite,
    scope: (user) => user.admin ? {} : { company: user.company },
    search: ['name'],
    afterWrite: async (write) => { await audit(write, 'project', write.record.company_id) }
  })
  resources.register(Task, {
    etag: true,
    auth: membersWrite,
    scope: (user) => user.admin ? {} : { project__company: user.company },
    search: ['title'],
    beforeWrite: requireAssignee,
    afterWrite: async (write) => {
      await requireOpenProject(write)
      await audit(write, 'task', companyOfProject(write.db, write.record.project_id))
    }
  })
  resources.register(Comment, {
    auth: membersWrite,
    scope: (user) => user.admin ? {} : { task__project__company: user.company },
    ownerField: 'author',
    afterWrite: async (write) => { await audit(write, 'comment', companyOfTask(write.db, write.record.task_id)) }
  })
  resources.register(Audit, {
    auth: managersRead,
    scope: (user) => user.admin ? {} : { company: user.company }
  })
}
