import { engine } from '../support/database.js'

/**
 * Tables that have everything: each kind of column that can be a field, each that cannot, and keys and references of
 * all sorts.
 */
const schemas = {
  sqlite: [
    'create table [Account Kind] (id integer primary key)',
    'create table country ([Country Code] text primary key not null, name text)',
    `create table person (
      person_id integer primary key autoincrement, name varchar(80) not null, mail text unique, ` +
      `nick varchar(600) unique, password text not null default 'x',
      small smallint not null default 3, big bigint default 9007199254740993, ratio real default 1.5, ` +
      `price numeric(10,2) not null default 1.5, huge decimal(30,5), bare numeric,
      flag boolean not null default 1, tiny tinyint(1), born date default current_date, ` +
      `made datetime not null default current_timestamp, day date default '2024-02-29',
      quoted text default 'it''s "so"', slashed text default 'a\\b', called text default (upper('x')), photo blob, ` +
      'untyped, few tinyint, ctid text, must text not null default (lower(\'X\')), ' +
      'short varchar(2) default \'long\', ' +
      `clock time,
      boss_id integer references person on delete set null, country text references country, "like" integer, ` +
      `"odd name" text, "two__words_" text,
      twice integer generated always as (small * 2) stored, "id" integer, hash text check (length(hash) > 3))`,
    'create table [Author] ([AuthorId] integer primary key autoincrement, [Best] integer references book, [Name] text)',
    'create table book (id integer primary key, author_id integer not null references Author (AuthorId) on delete ' +
      'cascade, mail text references person (mail), tag_id text references tag, ' +
      'kind integer references [Account Kind], changed_by integer not null references person on delete set default)',
    'create table tag (id text primary key not null, parent text references tag)',
    'create table pair (a integer, b integer, primary key (a, b))',
    'create table pair_user (id integer primary key, a integer, b integer, foreign key (a, b) references pair (a, ' +
      'b), unique (a, b))',
    'create table keyless (a integer)',
    'create table untyped_key (id primary key not null, a text)',
    'create table money_key (id money primary key not null, a text)',
    'create table quoted_key ([an id] integer primary key)',
    'create table loose (id int primary key, a text)',
    'create table firm (id int primary key not null, a text)',
    'create table lonely (id integer primary key)',
    'create table model (id integer primary key, a text, A_ text, "a__" text)',
    'create table ORDER_LINE (id integer primary key, select_id integer references model, "select" integer)',
    'create table orderline (id integer primary key, x text)',
    'create table kysely_migration (name text primary key)',
    'create view everybody as select person_id as id, name from person',
    'create virtual table search using fts5(words)',
    'insert into tag values (\'0f8fad5b-d9cb-469f-a165-70867728950e\', null)'
  ],
  postgres: [
    'create table "Account Kind" (id serial primary key)',
    'create table country ("Country Code" text primary key, name text)',
    `create table person (
      person_id bigserial primary key, name varchar(80) not null, mail text unique, nick varchar(600) unique, ` +
      `password text not null default 'x',
      small smallint not null default 3, big bigint default 9007199254740993, ratio double precision default 1.5, ` +
      `price numeric(10,2) not null default 1.5, huge numeric(30,5), bare numeric,
      flag boolean not null default true, tiny boolean, born date default current_date, ` +
      `made timestamp not null default now(), day date default '2024-02-29',
      quoted text default 'it''s "so"', slashed text default 'a\\b', called text default upper('x'), photo bytea, ` +
      `clock time, zoned timestamptz, extra jsonb default '{"a": [1]}', code uuid default gen_random_uuid(),
      boss_id bigint references person on delete set null, country text references country, "like" integer, ` +
      `"odd name" text, "two__words_" text,
      twice integer generated always as (small * 2) stored, id integer, negative integer default -5, ` +
      'utc timestamp default (now() at time zone \'utc\'), lists integer[], hash text)',
    'create table tag (id uuid primary key, parent uuid references tag)',
    'create table "Author" ("AuthorId" integer generated always as identity primary key, "Best" integer, ' +
      '"Name" text, name text)',
    'create table book (id serial primary key, author_id integer not null references "Author" ("AuthorId") on delete ' +
      'cascade, mail text references person (mail), tag_id uuid references tag, ' +
      'kind integer references "Account Kind", changed_by bigint not null default 1 references person on delete set ' +
      'default)',
    'alter table "Author" add foreign key ("Best") references book',
    'create table pair (a integer, b integer, primary key (a, b))',
    'create table pair_user (id serial primary key, a integer, b integer, foreign key (a, b) references pair (a, b), ' +
      'unique (a, b))',
    'create table keyless (a integer)',
    'create table firm (id integer primary key, a text)',
    'create table lonely (id serial primary key)',
    'create table model (id serial primary key, a text, "A_" text, "a__" text)',
    'create table "ORDER_LINE" (id serial primary key, select_id integer references model, "select" integer)',
    'create table orderline (id serial primary key, x text)',
    'create unique index on orderline (lower(x))',
    'create unique index on orderline (x) where id > 5',
    'create table kysely_migration (name text primary key)',
    'create view everybody as select person_id as id, name from person',
    'create materialized view counted as select count(*) from person'
  ],
  mariadb: [
    'create table `Account Kind` (id integer auto_increment primary key)',
    'create table country (`Country Code` varchar(5) primary key, name text)',
    `create table person (
      person_id bigint auto_increment primary key, name varchar(80) not null, mail varchar(50) unique, ` +
      `nick varchar(600) unique, password text not null default 'x',
      small smallint not null default 3, big bigint default 9007199254740993, ratio double default 1.5, ` +
      `price decimal(10,2) not null default 1.5, huge decimal(30,5),
      flag boolean not null default true, tiny tinyint(1), few tinyint(3) unsigned, many int unsigned, ` +
      `born date default current_date, made datetime not null default now(), day date default '2024-02-29',
      quoted text default 'it is "so"', slashed text default 'a\\\\b', called varchar(9) default (upper('x')), ` +
      `photo blob, clock time, zoned timestamp null, extra json default '{"a": [1]}', plain longtext,
      boss_id bigint, country varchar(5), \`like\` integer, \`odd name\` text, \`two__words_\` text,
      twice integer generated always as (small * 2) stored, id integer, hash text,
      foreign key (boss_id) references person (person_id) on delete set null, ` +
      'foreign key (country) references country (`Country Code`))',
    'create table tag (id char(36) primary key, parent char(36), foreign key (parent) references tag (id))',
    'create table Author (AuthorId integer auto_increment primary key, Best integer, Name text)',
    'create table book (id integer auto_increment primary key, author_id integer not null, mail varchar(50), ' +
      `tag_id char(36), kind integer, changed_by bigint not null,
      foreign key (author_id) references Author (AuthorId) on delete cascade, ` +
      'foreign key (mail) references person (mail), foreign key (tag_id) references tag (id), ' +
      'foreign key (kind) references `Account Kind` (id), foreign key (changed_by) references person (person_id))',
    'alter table Author add foreign key (Best) references book (id)',
    'create table pair (a integer, b integer, primary key (a, b))',
    'create table pair_user (id integer auto_increment primary key, a integer, b integer, foreign key (a, ' +
      'b) references pair (a, b), unique (a, b))',
    'create table keyless (a integer)',
    'create table firm (id integer primary key, a text)',
    'create table lonely (id integer auto_increment primary key)',
    'create table model (id integer auto_increment primary key, a text, `A_` text, `a__` text)',
    'create table ORDER_LINE (id integer auto_increment primary key, select_id integer, `select` integer, ' +
      'foreign key (select_id) references model (id))',
    'create table orderline (id integer auto_increment primary key, x text, unique (x(10)))',
    'create table kysely_migration (name varchar(9) primary key)',
    'create view everybody as select person_id as id, name from person',
    'insert into tag values (\'0f8fad5b-d9cb-469f-a165-70867728950e\', null)'
  ]
} as const

export const everything: readonly string[] = schemas[engine]
