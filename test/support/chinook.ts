import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../lib/engines/executor.js'

type Engine = 'sqlite' | 'postgres' | 'mariadb'

/** The types of the published scripts for each engine. */
const types: Readonly<Record<Engine, (type: string) => string>> = {
  sqlite: (type) => type,
  postgres: (type) => type.replace('nvarchar', 'varchar').replace('datetime', 'timestamp'),
  mariadb: (type) => type.replace('numeric', 'decimal').replace('integer', 'int')
}

interface ChinookTable {
  readonly columns: Readonly<Record<string, string>>
  readonly key: readonly string[]
  readonly references?: Readonly<Record<string, string>>
}

const text = (length: number): string => `nvarchar(${length})`
const address = {
  Address: text(70),
  City: text(40),
  State: text(40),
  Country: text(40),
  PostalCode: text(10),
  Phone: text(24),
  Fax: text(24)
}
const named = (key: string): ChinookTable => ({ columns: { [key]: 'integer not null', Name: text(120) }, key: [key] })

const tables: Readonly<Record<string, ChinookTable>> = {
  Artist: named('ArtistId'),
  Genre: named('GenreId'),
  MediaType: named('MediaTypeId'),
  Playlist: named('PlaylistId'),
  Album: {
    columns: { AlbumId: 'integer not null', Title: `${text(160)} not null`, ArtistId: 'integer not null' },
    key: ['AlbumId'],
    references: { ArtistId: 'Artist' }
  },
  Employee: {
    columns: {
      EmployeeId: 'integer not null',
      LastName: `${text(20)} not null`,
      FirstName: `${text(20)} not null`,
      Title: text(30),
      ReportsTo: 'integer',
      BirthDate: 'datetime',
      HireDate: 'datetime',
      ...address,
      Email: text(60)
    },
    key: ['EmployeeId'],
    references: { ReportsTo: 'Employee' }
  },
  Customer: {
    columns: {
      CustomerId: 'integer not null',
      FirstName: `${text(40)} not null`,
      LastName: `${text(20)} not null`,
      Company: text(80),
      ...address,
      Email: `${text(60)} not null`,
      SupportRepId: 'integer'
    },
    key: ['CustomerId'],
    references: { SupportRepId: 'Employee' }
  },
  Invoice: {
    columns: {
      InvoiceId: 'integer not null',
      CustomerId: 'integer not null',
      InvoiceDate: 'datetime not null',
      BillingAddress: text(70),
      BillingCity: text(40),
      BillingState: text(40),
      BillingCountry: text(40),
      BillingPostalCode: text(10),
      Total: 'numeric(10,2) not null'
    },
    key: ['InvoiceId'],
    references: { CustomerId: 'Customer' }
  },
  Track: {
    columns: {
      TrackId: 'integer not null',
      Name: `${text(200)} not null`,
      AlbumId: 'integer',
      MediaTypeId: 'integer not null',
      GenreId: 'integer',
      Composer: text(220),
      Milliseconds: 'integer not null',
      Bytes: 'integer',
      UnitPrice: 'numeric(10,2) not null'
    },
    key: ['TrackId'],
    references: { AlbumId: 'Album', GenreId: 'Genre', MediaTypeId: 'MediaType' }
  },
  InvoiceLine: {
    columns: {
      InvoiceLineId: 'integer not null',
      InvoiceId: 'integer not null',
      TrackId: 'integer not null',
      UnitPrice: 'numeric(10,2) not null',
      Quantity: 'integer not null'
    },
    key: ['InvoiceLineId'],
    references: { InvoiceId: 'Invoice', TrackId: 'Track' }
  },
  PlaylistTrack: {
    columns: { PlaylistId: 'integer not null', TrackId: 'integer not null' },
    key: ['PlaylistId', 'TrackId'],
    references: { PlaylistId: 'Playlist', TrackId: 'Track' }
  }
}

/** Nobody of these exists. */
const rows: Readonly<Record<string, ReadonlyArray<Readonly<Record<string, unknown>>>>> = {
  Artist: [{ ArtistId: 1, Name: 'The Left Pads' }, { ArtistId: 2, Name: 'Null Pointers' }],
  Genre: [{ GenreId: 1, Name: 'Rock' }, { GenreId: 2, Name: 'Jazz' }],
  MediaType: [{ MediaTypeId: 1, Name: 'Audio file' }],
  Playlist: [{ PlaylistId: 1, Name: 'Everything' }],
  Album: [{ AlbumId: 1, Title: 'Off by One', ArtistId: 1 }, { AlbumId: 2, Title: 'Undefined Behaviour', ArtistId: 2 }],
  Employee: [
    {
      EmployeeId: 1,
      LastName: 'Root',
      FirstName: 'Ada',
      Title: 'Manager',
      ReportsTo: null,
      HireDate: '2020-01-02 00:00:00',
      Email: 'ada@example.com'
    },
    {
      EmployeeId: 2,
      LastName: 'Branch',
      FirstName: 'Ben',
      Title: 'Clerk',
      ReportsTo: 1,
      HireDate: '2021-03-04 00:00:00',
      Email: 'ben@example.com'
    }
  ],
  Customer: [{
    CustomerId: 1, FirstName: 'Cora', LastName: 'Leaf', Country: 'Norway', Email: 'cora@example.com', SupportRepId: 2
  }],
  Invoice: [
    { InvoiceId: 1, CustomerId: 1, InvoiceDate: '2024-05-06 07:08:09', BillingCountry: 'Norway', Total: '2.97' }
  ],
  Track: [
    {
      TrackId: 1,
      Name: 'Fence Posts',
      AlbumId: 1,
      MediaTypeId: 1,
      GenreId: 1,
      Composer: 'A. Root',
      Milliseconds: 210000,
      Bytes: 4096000,
      UnitPrice: '0.99'
    },
    {
      TrackId: 2,
      Name: 'Dangling',
      AlbumId: 2,
      MediaTypeId: 1,
      GenreId: 2,
      Composer: null,
      Milliseconds: 185000,
      Bytes: null,
      UnitPrice: '1.98'
    }
  ],
  InvoiceLine: [
    { InvoiceLineId: 1, InvoiceId: 1, TrackId: 1, UnitPrice: '0.99', Quantity: 1 },
    { InvoiceLineId: 2, InvoiceId: 1, TrackId: 2, UnitPrice: '1.98', Quantity: 1 }
  ],
  PlaylistTrack: [{ PlaylistId: 1, TrackId: 1 }, { PlaylistId: 1, TrackId: 2 }]
}

/**
 * Makes the tables of the Chinook sample database (https://github.com/lerocha/chinook-database: eleven tables of a shop
 * for music) from their published structure, in an empty database, with a few invented rows.
 */
export async function makeChinook (db: Kysely<Tables>, engine: Engine): Promise<void> {
  const names = (all: readonly string[]) => sql.join(all.map((name) => sql.ref(name)))
  for (const [table, { columns, key, references = {} }] of Object.entries(tables)) {
    const parts = [
      ...Object.entries(columns).map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(types[engine](type))}`),
      sql`primary key (${names(key)})`,
      ...Object.entries(references).map(([column, target]) => sql`foreign key (${sql.ref(column)}) references
        ${sql.table(target)} (${names(tables[target]?.key ?? [])}) on delete no action`)
    ]
    await sql`create table ${sql.table(table)} (${sql.join(parts)})`.execute(db)
    await db.insertInto(table).values(rows[table] ?? []).execute()
  }
}
