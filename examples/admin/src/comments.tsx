import {
  Create, DataTable, Edit, List, ReferenceField, ReferenceInput, required, SimpleForm, TextInput
} from 'react-admin'
import { MomentField } from './moment'

const filters = [
  <ReferenceInput key='author' source='author_id' reference='member' alwaysOn />,
  <ReferenceInput key='project' source='task__project_id' reference='project' alwaysOn />
]

const CommentList = () => (
  <List filters={filters} sort={{ field: 'created_at', order: 'DESC' }}>
    <DataTable>
      <DataTable.Col source='task_id' label='Task' disableSort>
        <ReferenceField source='task_id' reference='task' />
      </DataTable.Col>
      <DataTable.Col source='author_id' label='Author' disableSort>
        <ReferenceField source='author_id' reference='member' />
      </DataTable.Col>
      <DataTable.Col source='text' />
      <DataTable.Col source='created_at' field={MomentField} />
    </DataTable>
  </List>
)

const CommentEdit = () => (
  <Edit mutationMode='pessimistic'>
    <SimpleForm><TextInput source='text' multiline validate={required()} /></SimpleForm>
  </Edit>
)

const CommentCreate = () => (
  <Create redirect='list'>
    <SimpleForm>
      <ReferenceInput source='task_id' reference='task' />
      <TextInput source='text' multiline validate={required()} />
    </SimpleForm>
  </Create>
)

export const commentPages = { list: CommentList, edit: CommentEdit, create: CommentCreate }
