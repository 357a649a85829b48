create table schema_migrations (version character varying not null primary key);
create table ar_internal_metadata (
  key character varying not null primary key, value character varying, created_at timestamp(6) without time zone not null,
  updated_at timestamp(6) without time zone not null
);
create table users (
  id bigserial primary key, email character varying not null default '', encrypted_password character varying not null
    default '', reset_password_token character varying, reset_password_sent_at timestamp(6) without time zone,
  remember_created_at timestamp(6) without time zone, sign_in_count integer not null default 0,
  current_sign_in_at timestamp(6) without time zone, last_sign_in_at timestamp(6) without time zone,
  current_sign_in_ip character varying, last_sign_in_ip character varying, confirmation_token character varying,
  role integer not null default 0, created_at timestamp(6) without time zone not null,
  updated_at timestamp(6) without time zone not null
);
create unique index index_users_on_email on users (email);
create unique index index_users_on_reset_password_token on users (reset_password_token);
create table accounts (
  id bigserial primary key, name character varying not null, password_digest character varying, user_id bigint not null,
  settings jsonb not null default '{}', balance numeric(12,2) not null default 0.0, rate numeric, latitude double precision,
  born_on date, opens_at time without time zone, tags character varying[] default '{}', uid uuid default gen_random_uuid(),
  avatar bytea, active boolean not null default true, created_at timestamp(6) without time zone not null,
  updated_at timestamp(6) without time zone not null,
  constraint fk_rails_b1e30bebc8 foreign key (user_id) references users (id)
);
create table active_storage_blobs (
  id bigserial primary key, key character varying not null, filename character varying not null,
  content_type character varying, metadata text, service_name character varying not null, byte_size bigint not null,
  checksum character varying, created_at timestamp(6) without time zone not null
);
create unique index index_active_storage_blobs_on_key on active_storage_blobs (key);
create table active_storage_attachments (
  id bigserial primary key, name character varying not null, record_type character varying not null,
  record_id bigint not null, blob_id bigint not null, created_at timestamp(6) without time zone not null,
  constraint fk_rails_c3b3935057 foreign key (blob_id) references active_storage_blobs (id)
);
create unique index index_active_storage_attachments_uniqueness on active_storage_attachments (record_type, record_id, name, blob_id);
create table active_storage_variant_records (
  id bigserial primary key, blob_id bigint not null, variation_digest character varying not null,
  constraint fk_rails_993965df05 foreign key (blob_id) references active_storage_blobs (id)
);
create unique index index_active_storage_variant_records_uniqueness on active_storage_variant_records (blob_id, variation_digest);
create table roles_users (user_id bigint not null, role_id bigint not null);
