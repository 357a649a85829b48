import {
  BooleanField, BooleanInput, Create, DataTable, Edit, List, PasswordInput, ReferenceField, required, SelectInput,
  SimpleForm, TextInput
} from 'react-admin'
import { CompanyInput } from './companies'
import { searchFilter } from './search'

const roles = ['member', 'manager']

const filters = [
  searchFilter,
  <SelectInput key='role' source='role' choices={roles} alwaysOn />
]

const MemberList = () => (
  <List filters={filters} sort={{ field: 'full_name', order: 'ASC' }}>
    <DataTable>
      <DataTable.Col source='username' />
      <DataTable.Col source='full_name' />
      <DataTable.Col source='company_id' label='Company' disableSort>
        <ReferenceField source='company_id' reference='company' />
      </DataTable.Col>
      <DataTable.Col source='role' />
      <DataTable.Col source='active' field={BooleanField} />
    </DataTable>
  </List>
)

const fields = <>
  <CompanyInput />
  <TextInput source='username' validate={required()} />
  <TextInput source='full_name' validate={required()} />
  <SelectInput source='role' choices={roles} defaultValue='member' />
  <BooleanInput source='active' defaultValue />
</>

const MemberEdit = () => (
  <Edit mutationMode='pessimistic'>
    <SimpleForm>
      {fields}
      <PasswordInput
        source='password' label='New password' helperText='Empty keeps the present one'
        parse={(text: string) => text === '' ? undefined : text}
      />
    </SimpleForm>
  </Edit>
)

const MemberCreate = () => (
  <Create redirect='list'>
    <SimpleForm>
      {fields}
      <PasswordInput source='password' validate={required()} />
    </SimpleForm>
  </Create>
)

export const memberPages = { list: MemberList, edit: MemberEdit, create: MemberCreate }
