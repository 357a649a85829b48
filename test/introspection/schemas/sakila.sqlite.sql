create table actor (
  actor_id integer not null, first_name varchar(45) not null, last_name varchar(45) not null,
  last_update timestamp not null, primary key (actor_id)
);
create table country (country_id integer not null, country varchar(50) not null, last_update timestamp, primary key (country_id));
create table city (
  city_id integer not null, city varchar(50) not null, country_id int not null, last_update timestamp not null,
  primary key (city_id),
  constraint fk_city_country foreign key (country_id) references country (country_id) on delete no action on update cascade
);
create table address (
  address_id integer not null, address varchar(50) not null, address2 varchar(50) default null, district varchar(20) not null,
  city_id int not null, postal_code varchar(10) default null, phone varchar(20) not null, last_update timestamp not null,
  primary key (address_id),
  constraint fk_address_city foreign key (city_id) references city (city_id) on delete no action on update cascade
);
create table language (language_id integer not null, name char(20) not null, last_update timestamp not null, primary key (language_id));
create table category (category_id integer not null, name varchar(25) not null, last_update timestamp not null, primary key (category_id));
create table customer (
  customer_id integer not null, store_id int not null, first_name varchar(45) not null, last_name varchar(45) not null,
  email varchar(50) default null, address_id int not null, active char(1) default 'Y' not null,
  create_date timestamp not null, last_update timestamp not null, primary key (customer_id),
  constraint fk_customer_store foreign key (store_id) references store (store_id) on delete no action on update cascade,
  constraint fk_customer_address foreign key (address_id) references address (address_id) on delete no action on update cascade
);
create table film (
  film_id integer not null, title varchar(255) not null, description blob sub_type text default null,
  release_year varchar(4) default null, language_id int not null, original_language_id smallint default null,
  rental_duration smallint default 3 not null, rental_rate decimal(4,2) default 4.99 not null,
  length smallint default null, replacement_cost decimal(5,2) default 19.99 not null, rating varchar(10) default 'G',
  special_features varchar(100) default null, last_update timestamp not null, primary key (film_id),
  constraint check_special_features check (special_features is null or special_features like '%Trailers%' or
    special_features like '%Commentaries%' or special_features like '%Deleted Scenes%' or
    special_features like '%Behind the Scenes%'),
  constraint check_special_rating check (rating in ('G', 'PG', 'PG-13', 'R', 'NC-17')),
  constraint fk_film_language foreign key (language_id) references language (language_id),
  constraint fk_film_language_original foreign key (original_language_id) references language (language_id)
);
create table film_actor (
  actor_id int not null, film_id int not null, last_update timestamp not null, primary key (actor_id, film_id),
  constraint fk_film_actor_actor foreign key (actor_id) references actor (actor_id) on delete no action on update cascade,
  constraint fk_film_actor_film foreign key (film_id) references film (film_id) on delete no action on update cascade
);
create table film_category (
  film_id int not null, category_id int not null, last_update timestamp not null, primary key (film_id, category_id),
  constraint fk_film_category_film foreign key (film_id) references film (film_id) on delete no action on update cascade,
  constraint fk_film_category_category foreign key (category_id) references category (category_id) on delete no action
);
create table film_text (film_id integer not null, title varchar(255) not null, description blob sub_type text, primary key (film_id));
create table inventory (
  inventory_id integer not null, film_id int not null, store_id int not null, last_update timestamp not null,
  primary key (inventory_id),
  constraint fk_inventory_store foreign key (store_id) references store (store_id) on delete no action on update cascade,
  constraint fk_inventory_film foreign key (film_id) references film (film_id) on delete no action on update cascade
);
create table staff (
  staff_id integer not null, first_name varchar(45) not null, last_name varchar(45) not null, address_id int not null,
  picture blob default null, email varchar(50) default null, store_id int not null, active smallint default 1 not null,
  username varchar(16) not null, password varchar(40) default null, last_update timestamp not null,
  primary key (staff_id),
  constraint fk_staff_store foreign key (store_id) references store (store_id) on delete no action on update cascade,
  constraint fk_staff_address foreign key (address_id) references address (address_id) on delete no action on update cascade
);
create table store (
  store_id integer not null, manager_staff_id int not null, address_id int not null, last_update timestamp not null,
  primary key (store_id),
  constraint fk_store_staff foreign key (manager_staff_id) references staff (staff_id),
  constraint fk_store_address foreign key (address_id) references address (address_id)
);
create table payment (
  payment_id integer not null, customer_id int not null, staff_id int not null, rental_id int default null,
  amount decimal(5,2) not null, payment_date timestamp not null, last_update timestamp not null,
  primary key (payment_id),
  constraint fk_payment_rental foreign key (rental_id) references rental (rental_id) on delete set null on update cascade,
  constraint fk_payment_customer foreign key (customer_id) references customer (customer_id),
  constraint fk_payment_staff foreign key (staff_id) references staff (staff_id)
);
create table rental (
  rental_id integer not null, rental_date timestamp not null, inventory_id int not null, customer_id int not null,
  return_date timestamp default null, staff_id int not null, last_update timestamp not null,
  primary key (rental_id),
  constraint fk_rental_staff foreign key (staff_id) references staff (staff_id),
  constraint fk_rental_inventory foreign key (inventory_id) references inventory (inventory_id),
  constraint fk_rental_customer foreign key (customer_id) references customer (customer_id)
);
create unique index idx_rental_uq on rental (rental_date, inventory_id, customer_id);
create view customer_list as
  select cu.customer_id as ID, cu.first_name || ' ' || cu.last_name as name, a.address as address,
    a.postal_code as zip_code, a.phone as phone, city.city as city, country.country as country,
    case when cu.active = 1 then 'active' else '' end as notes, cu.store_id as SID
  from customer as cu join address as a on cu.address_id = a.address_id join city on a.city_id = city.city_id
    join country on city.country_id = country.country_id;
