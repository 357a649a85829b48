create table `User` (
  `id` varchar(191) not null, `email` varchar(191) not null, `name` varchar(191) null,
  `role` enum('USER', 'EDITOR', 'ADMIN') not null default 'USER', `emailVerified` datetime(3) null,
  `image` varchar(191) null, `passwordHash` varchar(191) null, `credits` integer not null default 0,
  `createdAt` datetime(3) not null default current_timestamp(3), `updatedAt` datetime(3) not null,
  unique index `User_email_key` (`email`), primary key (`id`)
) default character set utf8mb4 collate utf8mb4_unicode_ci;
create table `Profile` (
  `id` integer not null auto_increment, `bio` varchar(191) null, `birthday` date null, `settings` json not null,
  `userId` varchar(191) not null, unique index `Profile_userId_key` (`userId`), primary key (`id`)
) default character set utf8mb4 collate utf8mb4_unicode_ci;
create table `Post` (
  `id` varchar(191) not null, `title` varchar(255) not null, `slug` varchar(191) not null, `content` text null,
  `status` enum('DRAFT', 'PUBLISHED') not null default 'DRAFT', `views` bigint not null default 0,
  `rating` double null, `price` decimal(65, 30) not null default 0, `publishedAt` datetime(3) null,
  `createdAt` datetime(3) not null default current_timestamp(3), `authorId` varchar(191) not null,
  unique index `Post_slug_key` (`slug`), index `Post_authorId_createdAt_idx` (`authorId`, `createdAt` desc),
  primary key (`id`)
) default character set utf8mb4 collate utf8mb4_unicode_ci;
create table `Category` (
  `id` integer not null auto_increment, `name` varchar(191) not null, unique index `Category_name_key` (`name`),
  primary key (`id`)
) default character set utf8mb4 collate utf8mb4_unicode_ci;
create table `Membership` (
  `userId` varchar(191) not null, `categoryId` integer not null,
  `assignedAt` datetime(3) not null default current_timestamp(3), `assignedBy` varchar(191) not null,
  primary key (`userId`, `categoryId`)
) default character set utf8mb4 collate utf8mb4_unicode_ci;
create table `Session` (
  `id` varchar(191) not null, `sessionToken` varchar(191) not null, `userId` varchar(191) not null,
  `expires` datetime(3) not null, `payload` longblob null, unique index `Session_sessionToken_key` (`sessionToken`),
  primary key (`id`)
) default character set utf8mb4 collate utf8mb4_unicode_ci;
create table `VerificationToken` (
  `identifier` varchar(191) not null, `token` varchar(191) not null, `expires` datetime(3) not null,
  unique index `VerificationToken_token_key` (`token`),
  unique index `VerificationToken_identifier_token_key` (`identifier`, `token`)
) default character set utf8mb4 collate utf8mb4_unicode_ci;
create table `_CategoryToPost` (
  `A` integer not null, `B` varchar(191) not null, unique index `_CategoryToPost_AB_unique` (`A`, `B`),
  index `_CategoryToPost_B_index` (`B`)
) default character set utf8mb4 collate utf8mb4_unicode_ci;
create table _prisma_migrations (
  id varchar(36) primary key not null, checksum varchar(64) not null, finished_at datetime(3),
  migration_name varchar(255) not null, logs text, rolled_back_at datetime(3),
  started_at datetime(3) not null default current_timestamp(3), applied_steps_count integer unsigned not null default 0
) default character set utf8mb4 collate utf8mb4_unicode_ci;
alter table `Profile` add constraint `Profile_userId_fkey` foreign key (`userId`) references `User` (`id`) on delete restrict on update cascade;
alter table `Post` add constraint `Post_authorId_fkey` foreign key (`authorId`) references `User` (`id`) on delete restrict on update cascade;
alter table `Membership` add constraint `Membership_userId_fkey` foreign key (`userId`) references `User` (`id`) on delete cascade on update cascade;
alter table `Membership` add constraint `Membership_categoryId_fkey` foreign key (`categoryId`) references `Category` (`id`) on delete restrict on update cascade;
alter table `Session` add constraint `Session_userId_fkey` foreign key (`userId`) references `User` (`id`) on delete cascade on update cascade;
alter table `_CategoryToPost` add constraint `_CategoryToPost_A_fkey` foreign key (`A`) references `Category` (`id`) on delete cascade on update cascade;
alter table `_CategoryToPost` add constraint `_CategoryToPost_B_fkey` foreign key (`B`) references `Post` (`id`) on delete cascade on update cascade;
