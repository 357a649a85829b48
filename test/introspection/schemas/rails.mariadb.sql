create table schema_migrations (version varchar(255) not null primary key);
create table ar_internal_metadata (
  `key` varchar(255) not null primary key, value varchar(255), created_at datetime(6) not null,
  updated_at datetime(6) not null
);
create table users (
  id bigint not null auto_increment primary key, email varchar(255) not null default '', encrypted_password varchar(255) not null
    default '', reset_password_token varchar(255), reset_password_sent_at datetime(6),
  remember_created_at datetime(6), sign_in_count int not null default 0,
  current_sign_in_at datetime(6), last_sign_in_at datetime(6),
  current_sign_in_ip varchar(255), last_sign_in_ip varchar(255), confirmation_token varchar(255),
  role int not null default 0, created_at datetime(6) not null,
  updated_at datetime(6) not null
);
create unique index index_users_on_email on users (email);
create unique index index_users_on_reset_password_token on users (reset_password_token);
create table accounts (
  id bigint not null auto_increment primary key, name varchar(255) not null, password_digest varchar(255), user_id bigint not null,
  settings longtext character set utf8mb4 collate utf8mb4_bin not null check (json_valid(settings)), balance decimal(12,2) not null default 0.0, rate decimal(10,0), latitude float,
  born_on date, opens_at time, tags longtext character set utf8mb4 collate utf8mb4_bin check (json_valid(tags)), uid varchar(36),
  avatar blob, active tinyint(1) not null default 1, created_at datetime(6) not null,
  updated_at datetime(6) not null,
  constraint fk_rails_b1e30bebc8 foreign key (user_id) references users (id)
);
create table active_storage_blobs (
  id bigint not null auto_increment primary key, `key` varchar(255) not null, filename varchar(255) not null,
  content_type varchar(255), metadata text, service_name varchar(255) not null, byte_size bigint not null,
  checksum varchar(255), created_at datetime(6) not null
);
create unique index index_active_storage_blobs_on_key on active_storage_blobs (`key`);
create table active_storage_attachments (
  id bigint not null auto_increment primary key, name varchar(255) not null, record_type varchar(255) not null,
  record_id bigint not null, blob_id bigint not null, created_at datetime(6) not null,
  constraint fk_rails_c3b3935057 foreign key (blob_id) references active_storage_blobs (id)
);
create unique index index_active_storage_attachments_uniqueness on active_storage_attachments (record_type, record_id, name, blob_id);
create table active_storage_variant_records (
  id bigint not null auto_increment primary key, blob_id bigint not null, variation_digest varchar(255) not null,
  constraint fk_rails_993965df05 foreign key (blob_id) references active_storage_blobs (id)
);
create unique index index_active_storage_variant_records_uniqueness on active_storage_variant_records (blob_id, variation_digest);
create table roles_users (user_id bigint not null, role_id bigint not null);
