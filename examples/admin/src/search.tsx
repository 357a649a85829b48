import { SearchInput } from 'react-admin'

/** Asks for words in any searched field. It is as high as the filters beside it, which have a label. */
export const searchFilter = <SearchInput key='q' source='q' alwaysOn sx={{ '& .MuiInputBase-root': { height: 48 } }} />
