import {
  Create, DataTable, Edit, List, ReferenceInput, required, SelectInput, SimpleForm, TextInput
} from 'react-admin'
import { session } from './session'

const CompanyList = () => (
  <List sort={{ field: 'name', order: 'ASC' }}>
    <DataTable>
      <DataTable.Col source='id' />
      <DataTable.Col source='name' />
    </DataTable>
  </List>
)

const CompanyEdit = () => (
  <Edit mutationMode='pessimistic'>
    <SimpleForm><TextInput source='name' validate={required()} /></SimpleForm>
  </Edit>
)

const CompanyCreate = () => (
  <Create redirect='list'>
    <SimpleForm><TextInput source='name' validate={required()} /></SimpleForm>
  </Create>
)

/** Only admins choose a company. For everybody else the server sets their own. */
export const CompanyInput = () => session.user?.admin === true
  ? <ReferenceInput source='company_id' reference='company'><SelectInput validate={required()} /></ReferenceInput>
  : null

export const companyPages = { list: CompanyList, edit: CompanyEdit, create: CompanyCreate }
