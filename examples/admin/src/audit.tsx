import { DataTable, List, ReferenceField, ReferenceInput, SelectInput } from 'react-admin'
import { MomentField } from './moment'

const filters = [
  <SelectInput key='operation' source='operation' choices={['create', 'update', 'delete']} alwaysOn />,
  <ReferenceInput key='member' source='member_id' reference='member' alwaysOn />
]

const AuditList = () => (
  <List filters={filters} empty={false} sort={{ field: 'id', order: 'DESC' }}>
    <DataTable rowClick={false}>
      <DataTable.Col source='at' field={MomentField} />
      <DataTable.Col source='member_id' label='Member' disableSort>
        <ReferenceField source='member_id' reference='member' />
      </DataTable.Col>
      <DataTable.Col source='operation' />
      <DataTable.Col source='resource' />
      <DataTable.Col source='record' />
    </DataTable>
  </List>
)

export const auditPages = { list: AuditList }
