create table [Artist] ([ArtistId] integer not null, [Name] nvarchar(120), constraint [PK_Artist] primary key ([ArtistId]));
create table [Genre] ([GenreId] integer not null, [Name] nvarchar(120), constraint [PK_Genre] primary key ([GenreId]));
create table [MediaType] ([MediaTypeId] integer not null, [Name] nvarchar(120), constraint [PK_MediaType] primary key ([MediaTypeId]));
create table [Playlist] ([PlaylistId] integer not null, [Name] nvarchar(120), constraint [PK_Playlist] primary key ([PlaylistId]));
create table [Album] (
  [AlbumId] integer not null, [Title] nvarchar(160) not null, [ArtistId] integer not null,
  constraint [PK_Album] primary key ([AlbumId]),
  foreign key ([ArtistId]) references [Artist] ([ArtistId]) on delete no action on update no action
);
create table [Employee] (
  [EmployeeId] integer not null, [LastName] nvarchar(20) not null, [FirstName] nvarchar(20) not null,
  [Title] nvarchar(30), [ReportsTo] integer, [BirthDate] datetime, [HireDate] datetime, [Address] nvarchar(70),
  [City] nvarchar(40), [State] nvarchar(40), [Country] nvarchar(40), [PostalCode] nvarchar(10), [Phone] nvarchar(24),
  [Fax] nvarchar(24), [Email] nvarchar(60),
  constraint [PK_Employee] primary key ([EmployeeId]),
  foreign key ([ReportsTo]) references [Employee] ([EmployeeId]) on delete no action on update no action
);
create table [Customer] (
  [CustomerId] integer not null, [FirstName] nvarchar(40) not null, [LastName] nvarchar(20) not null,
  [Company] nvarchar(80), [Address] nvarchar(70), [City] nvarchar(40), [State] nvarchar(40), [Country] nvarchar(40),
  [PostalCode] nvarchar(10), [Phone] nvarchar(24), [Fax] nvarchar(24), [Email] nvarchar(60) not null,
  [SupportRepId] integer,
  constraint [PK_Customer] primary key ([CustomerId]),
  foreign key ([SupportRepId]) references [Employee] ([EmployeeId]) on delete no action on update no action
);
create table [Invoice] (
  [InvoiceId] integer not null, [CustomerId] integer not null, [InvoiceDate] datetime not null,
  [BillingAddress] nvarchar(70), [BillingCity] nvarchar(40), [BillingState] nvarchar(40),
  [BillingCountry] nvarchar(40), [BillingPostalCode] nvarchar(10), [Total] numeric(10,2) not null,
  constraint [PK_Invoice] primary key ([InvoiceId]),
  foreign key ([CustomerId]) references [Customer] ([CustomerId]) on delete no action on update no action
);
create table [Track] (
  [TrackId] integer not null, [Name] nvarchar(200) not null, [AlbumId] integer, [MediaTypeId] integer not null,
  [GenreId] integer, [Composer] nvarchar(220), [Milliseconds] integer not null, [Bytes] integer,
  [UnitPrice] numeric(10,2) not null,
  constraint [PK_Track] primary key ([TrackId]),
  foreign key ([AlbumId]) references [Album] ([AlbumId]) on delete no action on update no action,
  foreign key ([GenreId]) references [Genre] ([GenreId]) on delete no action on update no action,
  foreign key ([MediaTypeId]) references [MediaType] ([MediaTypeId]) on delete no action on update no action
);
create table [InvoiceLine] (
  [InvoiceLineId] integer not null, [InvoiceId] integer not null, [TrackId] integer not null,
  [UnitPrice] numeric(10,2) not null, [Quantity] integer not null,
  constraint [PK_InvoiceLine] primary key ([InvoiceLineId]),
  foreign key ([InvoiceId]) references [Invoice] ([InvoiceId]) on delete no action on update no action,
  foreign key ([TrackId]) references [Track] ([TrackId]) on delete no action on update no action
);
create table [PlaylistTrack] (
  [PlaylistId] integer not null, [TrackId] integer not null,
  constraint [PK_PlaylistTrack] primary key ([PlaylistId], [TrackId]),
  foreign key ([PlaylistId]) references [Playlist] ([PlaylistId]) on delete no action on update no action,
  foreign key ([TrackId]) references [Track] ([TrackId]) on delete no action on update no action
);
create index [IFK_AlbumArtistId] on [Album] ([ArtistId]);
create index [IFK_TrackAlbumId] on [Track] ([AlbumId]);
