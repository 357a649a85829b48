import { userAuth, type Operation, type ResourceRegistry, type UserOf } from 'fastify-rest-models'
import { Audit, Comment, Company, Member, Project, Task } from './models.js'

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
    search: ['username', 'full_name']
  })
  resources.register(Project, {
    auth: managersWrite,
    scope: (user) => user.admin ? {} : { company: user.company },
    search: ['name']
  })
  resources.register(Task, {
    etag: true,
    auth: membersWrite,
    scope: (user) => user.admin ? {} : { project__company: user.company },
    search: ['title']
  })
  resources.register(Comment, {
    auth: membersWrite,
    scope: (user) => user.admin ? {} : { task__project__company: user.company },
    ownerField: 'author'
  })
  resources.register(Audit, {
    auth: managersRead,
    scope: (user) => user.admin ? {} : { company: user.company }
  })
}
