create table categories (
  category_id smallint not null primary key, category_name varchar(15) not null, description text, picture bytea
);
create table customer_demographics (customer_type_id varchar(5) not null primary key, customer_desc text);
create table customers (
  customer_id varchar(5) not null primary key, company_name varchar(40) not null, contact_name varchar(30),
  contact_title varchar(30), address varchar(60), city varchar(15), region varchar(15), postal_code varchar(10),
  country varchar(15), phone varchar(24), fax varchar(24)
);
create table customer_customer_demo (
  customer_id varchar(5) not null references customers, customer_type_id varchar(5) not null references
    customer_demographics, primary key (customer_id, customer_type_id)
);
create table employees (
  employee_id smallint not null primary key, last_name varchar(20) not null, first_name varchar(10) not null,
  title varchar(30), title_of_courtesy varchar(25), birth_date date, hire_date date, address varchar(60),
  city varchar(15), region varchar(15), postal_code varchar(10), country varchar(15), home_phone varchar(24),
  extension varchar(4), photo bytea, notes text, reports_to smallint references employees, photo_path varchar(255)
);
create table region (region_id smallint not null primary key, region_description varchar(60) not null);
create table territories (
  territory_id varchar(20) not null primary key, territory_description varchar(60) not null,
  region_id smallint not null references region
);
create table employee_territories (
  employee_id smallint not null references employees, territory_id varchar(20) not null references territories,
  primary key (employee_id, territory_id)
);
create table shippers (shipper_id smallint not null primary key, company_name varchar(40) not null, phone varchar(24));
create table suppliers (
  supplier_id smallint not null primary key, company_name varchar(40) not null, contact_name varchar(30),
  contact_title varchar(30), address varchar(60), city varchar(15), region varchar(15), postal_code varchar(10),
  country varchar(15), phone varchar(24), fax varchar(24), homepage text
);
create table products (
  product_id smallint not null primary key, product_name varchar(40) not null, supplier_id smallint references
    suppliers, category_id smallint references categories, quantity_per_unit varchar(20), unit_price real,
  units_in_stock smallint, units_on_order smallint, reorder_level smallint, discontinued integer not null
);
create table orders (
  order_id smallint not null primary key, customer_id varchar(5) references customers, employee_id smallint
    references employees, order_date date, required_date date, shipped_date date, ship_via smallint references
    shippers, freight real, ship_name varchar(40), ship_address varchar(60), ship_city varchar(15),
  ship_region varchar(15), ship_postal_code varchar(10), ship_country varchar(15)
);
create table order_details (
  order_id smallint not null references orders, product_id smallint not null references products,
  unit_price real not null, quantity smallint not null, discount real not null, primary key (order_id, product_id)
);
create table us_states (
  state_id smallint not null primary key, state_name varchar(100), state_abbr varchar(2), state_region varchar(50)
);
