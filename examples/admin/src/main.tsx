import BusinessIcon from '@mui/icons-material/BusinessOutlined'
import CommentIcon from '@mui/icons-material/CommentOutlined'
import FolderIcon from '@mui/icons-material/FolderOutlined'
import HistoryIcon from '@mui/icons-material/History'
import PeopleIcon from '@mui/icons-material/PeopleOutlined'
import TaskIcon from '@mui/icons-material/TaskAlt'
import { createRoot } from 'react-dom/client'
import { Admin, Resource } from 'react-admin'
import { dataProvider } from './api'
import { auditPages } from './audit'
import { authProvider } from './auth'
import { commentPages } from './comments'
import { companyPages } from './companies'
import { memberPages } from './members'
import { projectPages } from './projects'
import { taskPages } from './tasks'

createRoot(document.getElementById('root')!).render(
  <Admin title='Workspace' dataProvider={dataProvider} authProvider={authProvider} requireAuth disableTelemetry>
    <Resource name='task' icon={TaskIcon} recordRepresentation='title' {...taskPages} />
    <Resource name='project' icon={FolderIcon} recordRepresentation='name' {...projectPages} />
    <Resource name='comment' icon={CommentIcon} recordRepresentation='text' {...commentPages} />
    <Resource name='member' icon={PeopleIcon} recordRepresentation='full_name' {...memberPages} />
    <Resource name='company' icon={BusinessIcon} recordRepresentation='name' {...companyPages} />
    <Resource name='audit' options={{ label: 'Audit' }} icon={HistoryIcon} {...auditPages} />
  </Admin>
)
