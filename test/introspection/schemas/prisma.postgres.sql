create type "Role" as enum ('USER', 'EDITOR', 'ADMIN');
create type "PostStatus" as enum ('DRAFT', 'PUBLISHED');
create table "User" (
  "id" text not null, "email" text not null, "name" text, "role" "Role" not null default 'USER',
  "emailVerified" timestamp(3), "image" text, "passwordHash" text, "credits" integer not null default 0,
  "createdAt" timestamp(3) not null default current_timestamp, "updatedAt" timestamp(3) not null,
  constraint "User_pkey" primary key ("id")
);
create table "Profile" (
  "id" serial not null, "bio" text, "birthday" date, "settings" jsonb not null default '{}', "userId" text not null,
  constraint "Profile_pkey" primary key ("id")
);
create table "Post" (
  "id" text not null, "title" varchar(255) not null, "slug" text not null, "content" text,
  "status" "PostStatus" not null default 'DRAFT', "tags" text[], "views" bigint not null default 0,
  "rating" double precision, "price" decimal(65,30) not null default 0, "publishedAt" timestamp(3),
  "createdAt" timestamp(3) not null default current_timestamp, "authorId" text not null,
  constraint "Post_pkey" primary key ("id")
);
create table "Category" ("id" serial not null, "name" text not null, constraint "Category_pkey" primary key ("id"));
create table "Membership" (
  "userId" text not null, "categoryId" integer not null, "assignedAt" timestamp(3) not null default current_timestamp,
  "assignedBy" text not null, constraint "Membership_pkey" primary key ("userId", "categoryId")
);
create table "Session" (
  "id" uuid not null default gen_random_uuid(), "sessionToken" text not null, "userId" text not null,
  "expires" timestamp(3) not null, "payload" bytea, constraint "Session_pkey" primary key ("id")
);
create table "VerificationToken" ("identifier" text not null, "token" text not null, "expires" timestamp(3) not null);
create table "_CategoryToPost" ("A" integer not null, "B" text not null, constraint "_CategoryToPost_AB_pkey" primary key ("A", "B"));
create table "_prisma_migrations" (
  id varchar(36) primary key not null, checksum varchar(64) not null, finished_at timestamptz,
  migration_name varchar(255) not null, logs text, rolled_back_at timestamptz,
  started_at timestamptz not null default now(), applied_steps_count integer not null default 0
);
create unique index "User_email_key" on "User" ("email");
create unique index "Profile_userId_key" on "Profile" ("userId");
create unique index "Post_slug_key" on "Post" ("slug");
create index "Post_authorId_createdAt_idx" on "Post" ("authorId", "createdAt" desc);
create unique index "Category_name_key" on "Category" ("name");
create unique index "Session_sessionToken_key" on "Session" ("sessionToken");
create unique index "VerificationToken_token_key" on "VerificationToken" ("token");
create unique index "VerificationToken_identifier_token_key" on "VerificationToken" ("identifier", "token");
create index "_CategoryToPost_B_index" on "_CategoryToPost" ("B");
alter table "Profile" add constraint "Profile_userId_fkey" foreign key ("userId") references "User" ("id") on delete restrict on update cascade;
alter table "Post" add constraint "Post_authorId_fkey" foreign key ("authorId") references "User" ("id") on delete restrict on update cascade;
alter table "Membership" add constraint "Membership_userId_fkey" foreign key ("userId") references "User" ("id") on delete cascade on update cascade;
alter table "Membership" add constraint "Membership_categoryId_fkey" foreign key ("categoryId") references "Category" ("id") on delete restrict on update cascade;
alter table "Session" add constraint "Session_userId_fkey" foreign key ("userId") references "User" ("id") on delete cascade on update cascade;
alter table "_CategoryToPost" add constraint "_CategoryToPost_A_fkey" foreign key ("A") references "Category" ("id") on delete cascade on update cascade;
alter table "_CategoryToPost" add constraint "_CategoryToPost_B_fkey" foreign key ("B") references "Post" ("id") on delete cascade on update cascade;
