create type mpaa_rating as enum ('G', 'PG', 'PG-13', 'R', 'NC-17');
create domain "bıgınt" as bigint;
create domain year as integer constraint year_check check (value >= 1901 and value <= 2155);
create sequence customer_customer_id_seq;
create sequence actor_actor_id_seq;
create sequence category_category_id_seq;
create sequence film_film_id_seq;
create sequence address_address_id_seq;
create sequence city_city_id_seq;
create sequence country_country_id_seq;
create sequence inventory_inventory_id_seq;
create sequence language_language_id_seq;
create sequence payment_payment_id_seq;
create sequence rental_rental_id_seq;
create sequence staff_staff_id_seq;
create sequence store_store_id_seq;
create table actor (
  actor_id integer default nextval('actor_actor_id_seq'::regclass) not null primary key, first_name text not null,
  last_name text not null, last_update timestamp with time zone default now() not null
);
create table category (
  category_id integer default nextval('category_category_id_seq'::regclass) not null primary key, name text not null,
  last_update timestamp with time zone default now() not null
);
create table country (
  country_id integer default nextval('country_country_id_seq'::regclass) not null primary key, country text not null,
  last_update timestamp with time zone default now() not null
);
create table city (
  city_id integer default nextval('city_city_id_seq'::regclass) not null primary key, city text not null,
  country_id integer not null references country on update cascade on delete restrict,
  last_update timestamp with time zone default now() not null
);
create table address (
  address_id integer default nextval('address_address_id_seq'::regclass) not null primary key, address text not null,
  address2 text, district text not null, city_id integer not null references city on update cascade on delete restrict,
  postal_code text, phone text not null, last_update timestamp with time zone default now() not null
);
create table language (
  language_id integer default nextval('language_language_id_seq'::regclass) not null primary key,
  name character(20) not null, last_update timestamp with time zone default now() not null
);
create table store (
  store_id integer default nextval('store_store_id_seq'::regclass) not null primary key,
  manager_staff_id integer not null, address_id integer not null references address on update cascade on delete restrict,
  last_update timestamp with time zone default now() not null
);
create unique index idx_unq_manager_staff_id on store (manager_staff_id);
create table staff (
  staff_id integer default nextval('staff_staff_id_seq'::regclass) not null primary key, first_name text not null,
  last_name text not null, address_id integer not null references address on update cascade on delete restrict,
  email text, store_id integer not null references store, active boolean default true not null, username text not null,
  password text, last_update timestamp with time zone default now() not null, picture bytea
);
create table customer (
  customer_id integer default nextval('customer_customer_id_seq'::regclass) not null primary key,
  store_id integer not null references store on update cascade on delete restrict, first_name text not null,
  last_name text not null, email text,
  address_id integer not null references address on update cascade on delete restrict,
  activebool boolean default true not null, create_date date default current_date not null,
  last_update timestamp with time zone default now(), active integer
);
create table film (
  film_id integer default nextval('film_film_id_seq'::regclass) not null primary key, title text not null,
  description text, release_year year, language_id integer not null references language on update cascade,
  original_language_id integer references language on update cascade, rental_duration smallint default 3 not null,
  rental_rate numeric(4,2) default 4.99 not null, length smallint, replacement_cost numeric(5,2) default 19.99 not null,
  rating mpaa_rating default 'G'::mpaa_rating, last_update timestamp with time zone default now() not null,
  special_features text[], fulltext tsvector not null default ''::tsvector
);
create table film_actor (
  actor_id integer not null references actor on update cascade on delete restrict,
  film_id integer not null references film on update cascade on delete restrict,
  last_update timestamp with time zone default now() not null, primary key (actor_id, film_id)
);
create table film_category (
  film_id integer not null references film on update cascade on delete restrict,
  category_id integer not null references category on update cascade on delete restrict,
  last_update timestamp with time zone default now() not null, primary key (film_id, category_id)
);
create table inventory (
  inventory_id integer default nextval('inventory_inventory_id_seq'::regclass) not null primary key,
  film_id integer not null references film on update cascade on delete restrict,
  store_id integer not null references store on update cascade on delete restrict,
  last_update timestamp with time zone default now() not null
);
create table rental (
  rental_id integer default nextval('rental_rental_id_seq'::regclass) not null primary key,
  rental_date timestamp with time zone not null,
  inventory_id integer not null references inventory on update cascade on delete restrict,
  customer_id integer not null references customer on update cascade on delete restrict,
  return_date timestamp with time zone, staff_id integer not null references staff on update cascade on delete restrict,
  last_update timestamp with time zone default now() not null
);
create unique index idx_unq_rental on rental (rental_date, inventory_id, customer_id);
create table payment (
  payment_id integer default nextval('payment_payment_id_seq'::regclass) not null, customer_id integer not null,
  staff_id integer not null, rental_id integer not null, amount numeric(5,2) not null,
  payment_date timestamp with time zone not null, primary key (payment_date, payment_id)
) partition by range (payment_date);
create table payment_p2022_01 partition of payment for values from ('2022-01-01 00:00:00+00') to ('2022-02-01 00:00:00+00');
create table payment_p2022_02 partition of payment for values from ('2022-02-01 00:00:00+00') to ('2022-03-01 00:00:00+00');
create table payment_p2022_03 partition of payment for values from ('2022-03-01 00:00:00+00') to ('2022-04-01 00:00:00+00');
create table payment_rest partition of payment default;
alter table store add foreign key (manager_staff_id) references staff on update cascade on delete restrict;
create view customer_list as
  select cu.customer_id as id, cu.first_name || ' ' || cu.last_name as name, a.address, a.postal_code as "zip code",
    a.phone, city.city, country.country, case when cu.activebool then 'active' else '' end as notes, cu.store_id as sid
  from customer cu join address a on cu.address_id = a.address_id join city on a.city_id = city.city_id
    join country on city.country_id = country.country_id;
create view sales_by_film_category as
  select c.name as category, sum(p.amount) as total_sales from payment p join rental r on p.rental_id = r.rental_id
    join inventory i on r.inventory_id = i.inventory_id join film f on i.film_id = f.film_id
    join film_category fc on f.film_id = fc.film_id join category c on fc.category_id = c.category_id group by c.name;
create materialized view rental_by_category as select * from sales_by_film_category;
