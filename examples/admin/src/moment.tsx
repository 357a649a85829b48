import { DateField, type DateFieldProps } from 'react-admin'

/** Shows a datetime of the API, such as `2026-03-01 09:30:00`, which is in UTC, in the zone of the browser. */
export const MomentField = (props: DateFieldProps) =>
  <DateField showTime transform={(value: string) => new Date(`${value.replace(' ', 'T')}Z`)} {...props} />
