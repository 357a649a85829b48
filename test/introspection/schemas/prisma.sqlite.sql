create table "User" (
  "id" text not null primary key, "email" text not null, "name" text, "role" text not null default 'USER',
  "emailVerified" datetime, "image" text, "passwordHash" text, "credits" integer not null default 0,
  "createdAt" datetime not null default current_timestamp, "updatedAt" datetime not null
);
create table "Profile" (
  "id" integer not null primary key autoincrement, "bio" text, "birthday" datetime, "settings" jsonb not null default '{}',
  "userId" text not null,
  constraint "Profile_userId_fkey" foreign key ("userId") references "User" ("id") on delete restrict on update cascade
);
create table "Post" (
  "id" text not null primary key, "title" text not null, "slug" text not null, "content" text,
  "status" text not null default 'DRAFT', "views" bigint not null default 0, "rating" real,
  "price" decimal not null default 0, "publishedAt" datetime, "createdAt" datetime not null default current_timestamp,
  "authorId" text not null,
  constraint "Post_authorId_fkey" foreign key ("authorId") references "User" ("id") on delete restrict on update cascade
);
create table "Category" ("id" integer not null primary key autoincrement, "name" text not null);
create table "Membership" (
  "userId" text not null, "categoryId" integer not null, "assignedAt" datetime not null default current_timestamp,
  "assignedBy" text not null, primary key ("userId", "categoryId"),
  constraint "Membership_userId_fkey" foreign key ("userId") references "User" ("id") on delete cascade on update cascade,
  constraint "Membership_categoryId_fkey" foreign key ("categoryId") references "Category" ("id") on delete restrict on update cascade
);
create table "Session" (
  "id" text not null primary key, "sessionToken" text not null, "userId" text not null, "expires" datetime not null,
  "payload" blob,
  constraint "Session_userId_fkey" foreign key ("userId") references "User" ("id") on delete cascade on update cascade
);
create table "VerificationToken" ("identifier" text not null, "token" text not null, "expires" datetime not null);
create table "_CategoryToPost" (
  "A" integer not null, "B" text not null,
  constraint "_CategoryToPost_A_fkey" foreign key ("A") references "Category" ("id") on delete cascade on update cascade,
  constraint "_CategoryToPost_B_fkey" foreign key ("B") references "Post" ("id") on delete cascade on update cascade
);
create table "_prisma_migrations" (
  "id" text primary key not null, "checksum" text not null, "finished_at" datetime, "migration_name" text not null,
  "logs" text, "rolled_back_at" datetime, "started_at" datetime not null default current_timestamp,
  "applied_steps_count" integer unsigned not null default 0
);
create unique index "User_email_key" on "User" ("email");
create unique index "Profile_userId_key" on "Profile" ("userId");
create unique index "Post_slug_key" on "Post" ("slug");
create index "Post_authorId_createdAt_idx" on "Post" ("authorId", "createdAt" desc);
create unique index "Category_name_key" on "Category" ("name");
create unique index "Session_sessionToken_key" on "Session" ("sessionToken");
create unique index "VerificationToken_token_key" on "VerificationToken" ("token");
create unique index "VerificationToken_identifier_token_key" on "VerificationToken" ("identifier", "token");
create unique index "_CategoryToPost_AB_unique" on "_CategoryToPost" ("A", "B");
create index "_CategoryToPost_B_index" on "_CategoryToPost" ("B");
