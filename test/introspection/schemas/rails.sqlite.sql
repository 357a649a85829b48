create table schema_migrations (version varchar not null primary key);
create table ar_internal_metadata (
  key varchar not null primary key, value varchar, created_at datetime(6) not null,
  updated_at datetime(6) not null
);
create table users (
  id integer not null primary key autoincrement, email varchar not null default '', encrypted_password varchar not null
    default '', reset_password_token varchar, reset_password_sent_at datetime(6),
  remember_created_at datetime(6), sign_in_count integer not null default 0,
  current_sign_in_at datetime(6), last_sign_in_at datetime(6),
  current_sign_in_ip varchar, last_sign_in_ip varchar, confirmation_token varchar,
  role integer not null default 0, created_at datetime(6) not null,
  updated_at datetime(6) not null
);
create unique index index_users_on_email on users (email);
create unique index index_users_on_reset_password_token on users (reset_password_token);
create table accounts (
  id integer not null primary key autoincrement, name varchar not null, password_digest varchar, user_id integer not null,
  settings json not null default '{}', balance decimal(12,2) not null default 0.0, rate decimal, latitude float,
  born_on date, opens_at time, tags json default '[]', uid varchar,
  avatar blob, active boolean not null default 1, created_at datetime(6) not null,
  updated_at datetime(6) not null,
  constraint fk_rails_b1e30bebc8 foreign key (user_id) references users (id)
);
create table active_storage_blobs (
  id integer not null primary key autoincrement, key varchar not null, filename varchar not null,
  content_type varchar, metadata text, service_name varchar not null, byte_size integer not null,
  checksum varchar, created_at datetime(6) not null
);
create unique index index_active_storage_blobs_on_key on active_storage_blobs (key);
create table active_storage_attachments (
  id integer not null primary key autoincrement, name varchar not null, record_type varchar not null,
  record_id integer not null, blob_id integer not null, created_at datetime(6) not null,
  constraint fk_rails_c3b3935057 foreign key (blob_id) references active_storage_blobs (id)
);
create unique index index_active_storage_attachments_uniqueness on active_storage_attachments (record_type, record_id, name, blob_id);
create table active_storage_variant_records (
  id integer not null primary key autoincrement, blob_id integer not null, variation_digest varchar not null,
  constraint fk_rails_993965df05 foreign key (blob_id) references active_storage_blobs (id)
);
create unique index index_active_storage_variant_records_uniqueness on active_storage_variant_records (blob_id, variation_digest);
create table roles_users (user_id integer not null, role_id integer not null);
