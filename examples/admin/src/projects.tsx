import {
  BooleanField, BooleanInput, Create, DataTable, Edit, List, NullableBooleanInput, NumberField, ReferenceField, required,
  SimpleForm, TextInput
} from 'react-admin'
import { CompanyInput } from './companies'
import { searchFilter } from './search'

const filters = [
  searchFilter,
  <NullableBooleanInput key='archived' source='archived' alwaysOn />
]

const ProjectList = () => (
  <List filters={filters} sort={{ field: 'name', order: 'ASC' }}>
    <DataTable>
      <DataTable.Col source='name' />
      <DataTable.Col source='company_id' label='Company' disableSort>
        <ReferenceField source='company_id' reference='company' />
      </DataTable.Col>
      <DataTable.Col source='budget' align='right'>
        <NumberField source='budget' options={{ minimumFractionDigits: 2 }} />
      </DataTable.Col>
      <DataTable.Col source='archived' field={BooleanField} />
    </DataTable>
  </List>
)

const fields = <>
  <CompanyInput />
  <TextInput source='name' validate={required()} />
  {/* A decimal is a text: JavaScript's numbers would round it. */}
  <TextInput source='budget' inputMode='decimal' />
  <BooleanInput source='archived' />
</>

const ProjectEdit = () => <Edit mutationMode='pessimistic'><SimpleForm>{fields}</SimpleForm></Edit>
const ProjectCreate = () => <Create redirect='list'><SimpleForm>{fields}</SimpleForm></Create>

export const projectPages = { list: ProjectList, edit: ProjectEdit, create: ProjectCreate }
