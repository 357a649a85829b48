create table [Categories] (
  [CategoryID] integer primary key autoincrement, [CategoryName] text, [Description] text, [Picture] blob
);
create table [CustomerDemographics] ([CustomerTypeID] text not null, [CustomerDesc] text, primary key ("CustomerTypeID"));
create table [Customers] (
  [CustomerID] text, [CompanyName] text, [ContactName] text, [ContactTitle] text, [Address] text, [City] text,
  [Region] text, [PostalCode] text, [Country] text, [Phone] text, [Fax] text, primary key (`CustomerID`)
);
create table [CustomerCustomerDemo] (
  [CustomerID] text not null, [CustomerTypeID] text not null, primary key ("CustomerID", "CustomerTypeID"),
  foreign key ([CustomerID]) references [Customers] ([CustomerID]) on delete no action on update no action,
  foreign key ([CustomerTypeID]) references [CustomerDemographics] ([CustomerTypeID]) on delete no action
);
create table [Employees] (
  [EmployeeID] integer primary key autoincrement, [LastName] text, [FirstName] text, [Title] text,
  [TitleOfCourtesy] text, [BirthDate] date, [HireDate] date, [Address] text, [City] text, [Region] text,
  [PostalCode] text, [Country] text, [HomePhone] text, [Extension] text, [Photo] blob, [Notes] text,
  [ReportsTo] integer, [PhotoPath] text,
  foreign key ([ReportsTo]) references [Employees] ([EmployeeID]) on delete no action on update no action
);
create table [Regions] ([RegionID] integer not null primary key, [RegionDescription] text not null);
create table [Territories] (
  [TerritoryID] text not null, [TerritoryDescription] text not null, [RegionID] integer not null,
  primary key ("TerritoryID"),
  foreign key ([RegionID]) references [Regions] ([RegionID]) on delete no action on update no action
);
create table [EmployeeTerritories] (
  [EmployeeID] integer not null, [TerritoryID] text not null, primary key ("EmployeeID", "TerritoryID"),
  foreign key ([EmployeeID]) references [Employees] ([EmployeeID]) on delete no action on update no action,
  foreign key ([TerritoryID]) references [Territories] ([TerritoryID]) on delete no action on update no action
);
create table [Shippers] (
  [ShipperID] integer not null primary key autoincrement, [CompanyName] text not null, [Phone] text
);
create table [Suppliers] (
  [SupplierID] integer not null primary key autoincrement, [CompanyName] text not null, [ContactName] text,
  [ContactTitle] text, [Address] text, [City] text, [Region] text, [PostalCode] text, [Country] text, [Phone] text,
  [Fax] text, [HomePage] text
);
create table [Products] (
  [ProductID] integer not null primary key autoincrement, [ProductName] text not null, [SupplierID] integer,
  [CategoryID] integer, [QuantityPerUnit] text, [UnitPrice] numeric default 0, [UnitsInStock] integer default 0,
  [UnitsOnOrder] integer default 0, [ReorderLevel] integer default 0, [Discontinued] text not null default '0',
  check ([UnitPrice] >= (0)), check ([ReorderLevel] >= (0)), check ([UnitsInStock] >= (0)),
  foreign key ([CategoryID]) references [Categories] ([CategoryID]) on delete no action on update no action,
  foreign key ([SupplierID]) references [Suppliers] ([SupplierID]) on delete no action on update no action
);
create table [Orders] (
  [OrderID] integer not null primary key autoincrement, [CustomerID] text, [EmployeeID] integer,
  [OrderDate] datetime, [RequiredDate] datetime, [ShippedDate] datetime, [ShipVia] integer,
  [Freight] numeric default 0, [ShipName] text, [ShipAddress] text, [ShipCity] text, [ShipRegion] text,
  [ShipPostalCode] text, [ShipCountry] text,
  foreign key ([EmployeeID]) references [Employees] ([EmployeeID]) on delete no action on update no action,
  foreign key ([CustomerID]) references [Customers] ([CustomerID]) on delete no action on update no action,
  foreign key ([ShipVia]) references [Shippers] ([ShipperID]) on delete no action on update no action
);
create table [Order Details] (
  [OrderID] integer not null, [ProductID] integer not null, [UnitPrice] numeric not null default 0,
  [Quantity] integer not null default 1, [Discount] real not null default 0, primary key ("OrderID", "ProductID"),
  check ([Discount] >= (0) and [Discount] <= (1)), check ([Quantity] > (0)), check ([UnitPrice] >= (0)),
  foreign key ([OrderID]) references [Orders] ([OrderID]) on delete no action on update no action,
  foreign key ([ProductID]) references [Products] ([ProductID]) on delete no action on update no action
);
create view [Current Product List] as select ProductID, ProductName from Products where Discontinued = 0;
create view [Order Subtotals] as
  select OrderID, sum(UnitPrice * Quantity * (1 - Discount)) as Subtotal from [Order Details] group by OrderID;
