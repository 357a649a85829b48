import {
  AutocompleteInput, BooleanField, BooleanInput, Create, DataTable, DateField, DateInput, Edit, Labeled, List,
  NullableBooleanInput, ReferenceField, ReferenceInput, ReferenceManyField, required, SimpleForm, TextInput
} from 'react-admin'
import { MomentField } from './moment'
import { searchFilter } from './search'

const filters = [
  searchFilter,
  <ReferenceInput key='project' source='project_id' reference='project' alwaysOn />,
  <ReferenceInput key='assignee' source='assignee_id' reference='member' />,
  <NullableBooleanInput key='done' source='done' alwaysOn />,
  <DateInput key='due' source='due__lte' label='Due until' />
]

const TaskList = () => (
  <List filters={filters} sort={{ field: 'updated_at', order: 'DESC' }}>
    <DataTable>
      <DataTable.Col source='title' />
      <DataTable.Col source='project_id' label='Project' disableSort>
        <ReferenceField source='project_id' reference='project' />
      </DataTable.Col>
      <DataTable.Col source='assignee_id' label='Assignee' disableSort>
        <ReferenceField source='assignee_id' reference='member' emptyText='nobody' />
      </DataTable.Col>
      <DataTable.Col source='done' field={BooleanField} />
      <DataTable.Col source='due' field={DateField} />
      <DataTable.Col source='updated_at' field={MomentField} />
    </DataTable>
  </List>
)

const fields = <>
  <TextInput source='title' validate={required()} />
  <ReferenceInput source='project_id' reference='project'><AutocompleteInput validate={required()} /></ReferenceInput>
  <ReferenceInput source='assignee_id' reference='member' filter={{ active: true }} />
  <BooleanInput source='done' />
  <DateInput source='due' />
</>

// Errors of the server reach the form only if it waits for the answer, so the mode is not react-admin's `undoable`.
const TaskEdit = () => (
  <Edit mutationMode='pessimistic'>
    <SimpleForm>
      {fields}
      <Labeled label='Comments'>
        <ReferenceManyField reference='comment' target='task_id' sort={{ field: 'created_at', order: 'ASC' }}>
          <DataTable bulkActionButtons={false}>
            <DataTable.Col source='author_id' label='Author' disableSort>
              <ReferenceField source='author_id' reference='member' />
            </DataTable.Col>
            <DataTable.Col source='text' />
            <DataTable.Col source='created_at' field={MomentField} />
          </DataTable>
        </ReferenceManyField>
      </Labeled>
    </SimpleForm>
  </Edit>
)

const TaskCreate = () => <Create redirect='list'><SimpleForm>{fields}</SimpleForm></Create>

export const taskPages = { list: TaskList, edit: TaskEdit, create: TaskCreate }
