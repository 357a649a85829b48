create table actor (
  actor_id smallint unsigned not null auto_increment, first_name varchar(45) not null, last_name varchar(45) not null,
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (actor_id),
  key idx_actor_last_name (last_name)
) engine=InnoDB default charset=utf8mb4;
create table country (
  country_id smallint unsigned not null auto_increment, country varchar(50) not null,
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (country_id)
) engine=InnoDB default charset=utf8mb4;
create table city (
  city_id smallint unsigned not null auto_increment, city varchar(50) not null, country_id smallint unsigned not null,
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (city_id),
  constraint fk_city_country foreign key (country_id) references country (country_id) on delete restrict on update cascade
) engine=InnoDB default charset=utf8mb4;
create table address (
  address_id smallint unsigned not null auto_increment, address varchar(50) not null, address2 varchar(50) default null,
  district varchar(20) not null, city_id smallint unsigned not null, postal_code varchar(10) default null,
  phone varchar(20) not null, location geometry not null default point(0, 0),
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (address_id),
  constraint fk_address_city foreign key (city_id) references city (city_id) on delete restrict on update cascade
) engine=InnoDB default charset=utf8mb4;
create table category (
  category_id tinyint unsigned not null auto_increment, name varchar(25) not null,
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (category_id)
) engine=InnoDB default charset=utf8mb4;
create table language (
  language_id tinyint unsigned not null auto_increment, name char(20) not null,
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (language_id)
) engine=InnoDB default charset=utf8mb4;
set foreign_key_checks = 0;
create table staff (
  staff_id tinyint unsigned not null auto_increment, first_name varchar(45) not null, last_name varchar(45) not null,
  address_id smallint unsigned not null, picture blob default null, email varchar(50) default null,
  store_id tinyint unsigned not null, active boolean not null default true, username varchar(16) not null,
  password varchar(40) character set utf8mb4 collate utf8mb4_bin default null,
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (staff_id),
  constraint fk_staff_store foreign key (store_id) references store (store_id) on delete restrict on update cascade,
  constraint fk_staff_address foreign key (address_id) references address (address_id) on delete restrict on update cascade
) engine=InnoDB default charset=utf8mb4;
create table store (
  store_id tinyint unsigned not null auto_increment, manager_staff_id tinyint unsigned not null,
  address_id smallint unsigned not null,
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (store_id),
  unique key idx_unique_manager (manager_staff_id),
  constraint fk_store_staff foreign key (manager_staff_id) references staff (staff_id) on delete restrict on update cascade,
  constraint fk_store_address foreign key (address_id) references address (address_id) on delete restrict on update cascade
) engine=InnoDB default charset=utf8mb4;
set foreign_key_checks = 1;
create table customer (
  customer_id smallint unsigned not null auto_increment, store_id tinyint unsigned not null,
  first_name varchar(45) not null, last_name varchar(45) not null, email varchar(50) default null,
  address_id smallint unsigned not null, active boolean not null default true, create_date datetime not null,
  last_update timestamp default current_timestamp on update current_timestamp, primary key (customer_id),
  constraint fk_customer_address foreign key (address_id) references address (address_id) on delete restrict on update cascade,
  constraint fk_customer_store foreign key (store_id) references store (store_id) on delete restrict on update cascade
) engine=InnoDB default charset=utf8mb4;
create table film (
  film_id smallint unsigned not null auto_increment, title varchar(128) not null, description text default null,
  release_year year default null, language_id tinyint unsigned not null,
  original_language_id tinyint unsigned default null, rental_duration tinyint unsigned not null default 3,
  rental_rate decimal(4,2) not null default 4.99, length smallint unsigned default null,
  replacement_cost decimal(5,2) not null default 19.99, rating enum('G','PG','PG-13','R','NC-17') default 'G',
  special_features set('Trailers','Commentaries','Deleted Scenes','Behind the Scenes') default null,
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (film_id),
  constraint fk_film_language foreign key (language_id) references language (language_id) on delete restrict on update cascade,
  constraint fk_film_language_original foreign key (original_language_id) references language (language_id) on delete restrict on update cascade
) engine=InnoDB default charset=utf8mb4;
create table film_actor (
  actor_id smallint unsigned not null, film_id smallint unsigned not null,
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (actor_id, film_id),
  constraint fk_film_actor_actor foreign key (actor_id) references actor (actor_id) on delete restrict on update cascade,
  constraint fk_film_actor_film foreign key (film_id) references film (film_id) on delete restrict on update cascade
) engine=InnoDB default charset=utf8mb4;
create table film_category (
  film_id smallint unsigned not null, category_id tinyint unsigned not null,
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (film_id, category_id),
  constraint fk_film_category_film foreign key (film_id) references film (film_id) on delete restrict on update cascade,
  constraint fk_film_category_category foreign key (category_id) references category (category_id) on delete restrict on update cascade
) engine=InnoDB default charset=utf8mb4;
create table film_text (
  film_id smallint unsigned not null, title varchar(255) not null, description text, primary key (film_id),
  fulltext key idx_title_description (title, description)
) engine=InnoDB default charset=utf8mb4;
create table inventory (
  inventory_id mediumint unsigned not null auto_increment, film_id smallint unsigned not null,
  store_id tinyint unsigned not null,
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (inventory_id),
  constraint fk_inventory_store foreign key (store_id) references store (store_id) on delete restrict on update cascade,
  constraint fk_inventory_film foreign key (film_id) references film (film_id) on delete restrict on update cascade
) engine=InnoDB default charset=utf8mb4;
create table rental (
  rental_id int not null auto_increment, rental_date datetime not null, inventory_id mediumint unsigned not null,
  customer_id smallint unsigned not null, return_date datetime default null, staff_id tinyint unsigned not null,
  last_update timestamp not null default current_timestamp on update current_timestamp, primary key (rental_id),
  unique key (rental_date, inventory_id, customer_id),
  constraint fk_rental_staff foreign key (staff_id) references staff (staff_id) on delete restrict on update cascade,
  constraint fk_rental_inventory foreign key (inventory_id) references inventory (inventory_id) on delete restrict on update cascade,
  constraint fk_rental_customer foreign key (customer_id) references customer (customer_id) on delete restrict on update cascade
) engine=InnoDB default charset=utf8mb4;
create table payment (
  payment_id smallint unsigned not null auto_increment, customer_id smallint unsigned not null,
  staff_id tinyint unsigned not null, rental_id int default null, amount decimal(5,2) not null,
  payment_date datetime not null, last_update timestamp default current_timestamp on update current_timestamp,
  primary key (payment_id),
  constraint fk_payment_rental foreign key (rental_id) references rental (rental_id) on delete set null on update cascade,
  constraint fk_payment_customer foreign key (customer_id) references customer (customer_id) on delete restrict on update cascade,
  constraint fk_payment_staff foreign key (staff_id) references staff (staff_id) on delete restrict on update cascade
) engine=InnoDB default charset=utf8mb4;
create view customer_list as
  select cu.customer_id as ID, concat(cu.first_name, ' ', cu.last_name) as name, a.address as address,
    a.postal_code as `zip code`, a.phone as phone, city.city as city, country.country as country,
    if(cu.active, 'active', '') as notes, cu.store_id as SID
  from customer cu join address a on cu.address_id = a.address_id join city on a.city_id = city.city_id
    join country on city.country_id = country.country_id;
create view sales_by_film_category as
  select c.name as category, sum(p.amount) as total_sales from payment p
    inner join rental r on p.rental_id = r.rental_id inner join inventory i on r.inventory_id = i.inventory_id
    inner join film f on i.film_id = f.film_id inner join film_category fc on f.film_id = fc.film_id
    inner join category c on fc.category_id = c.category_id group by c.name order by total_sales desc;
