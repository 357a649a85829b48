import { sql, type Kysely } from 'kysely'
import { test } from 'tap'
import { describeNotes } from '../../lib/tooling/introspect/describe-notes.js'
import { introspect } from '../../lib/tooling/introspect/introspect.js'
import { secretColumns } from '../../lib/tooling/introspect/secret-columns.js'
import { boolean, datetime, defineModel, foreignKey, integer, key, text } from '../../lib/index.js'
import { isSecret } from '../../lib/model/column.js'
import type { Model } from '../../lib/model/model.js'
import { isSecretName, looksSecret } from '../../lib/model/secret-names.js'
import type { Tables } from '../../lib/engines/executor.js'
import { engine, openDatabase, openSeparateDatabase } from '../support/database.js'

/** Names of secrets, as real schemas have them, with their words apart. */
const secret = {
  general: [
    'password', 'passwords', 'password_hash', 'password_salt', 'pass_word', 'pass_word_hash', 'hashed_password',
    'user_password', 'db_password', 'old_passwd', 'pwd', 'pwd_hash', 'login_pwd', 'pw', 'pw_hash',
    'passphrase', 'passphrases', 'passcode', 'secret', 'client_secret', 'hash', 'hashes', 'salt', 'pin', 'user_pin',
    'hmac_key', 'ssh_key', 'gpg_key', 'private_key', 'signing_key', 'encryption_key', 'master_key',
    'api_key', 'api_keys', 'api_token', 'access_token', 'access_key', 'secret_key', 'refresh_token', 'id_token',
    'reset_token', 'reset_code', 'reset_key', 'verification_code', 'confirmation_code', 'invite_code',
    'auth_token', 'auth_code', 'authorization_code', 'jwt', 'jwt_secret', 'csrf', 'csrf_token', 'xsrf_token',
    'nonce', 'session_id', 'session_key', 'session_token', 'session_data', 'session_secret', 'php_sess_id',
    'mfa_secret', 'mfa_code', 'otp', 'otp_secret', 'otp_code', 'totp_secret', 'hotp_secret', 'two_factor_code',
    'recovery_codes', 'recovery_key', 'backup_codes', 'scratch_codes', 'credential', 'credentials', 'ssn', 'cvv',
    'cvc', 'card_number',
    'card_cvc', 'security_answer', 'secret_answer', 'seed_phrase', 'mnemonic', 'license_key', 'passwort', 'kennwort',
    'mot_de_passe', 'contrasena',
    'token_exchange', 'password_unused', 'password_corporate', 'secret_prototype', 'token_update',
    'password_archetype', 'token_corporate', 'password_migrate', 'security_stamp', 'otep', 'passkey', 'passkeys',
    'user_pw', 'smtp_pw', 'db_pw', 'priv_key', 'enc_key', 'wallet_key', 'seed_words', 'recovery_phrase',
    'recovery_words', 'cc_num', 'card_num', 'card_no', 'magic_link', 'cookie', 'cookies', 'auth_cookie',
    'tls_key', 'ssl_key', 'host_key', 'ssh_host_key', 'cert_key', 'certificate_key'
  ],
  django: ['session_key', 'session_data', 'client_secret', 'code_verifier'],
  rails: ['encrypted_password', 'password_digest', 'reset_password_token', 'confirmation_token', 'unlock_token',
    'otp_backup_codes', 'encrypted_otp_secret', 'remember_digest', 'activation_digest', 'reset_digest'],
  laravel: ['remember_token', 'two_factor_secret', 'two_factor_recovery_codes'],
  wordpress: ['user_pass', 'user_activation_key', 'post_password', 'activation_key'],
  drupal: ['pass'],
  joomla: ['otp_key'],
  phpbb: ['user_newpasswd', 'user_actkey', 'user_form_salt', 'user_last_confirm_key'],
  magento: ['rp_token', 'password_hash', 'admin_session_id'],
  supabase: ['encrypted_password', 'recovery_token', 'email_change_token_new', 'reauthentication_token'],
  javascript: ['oauth_token_secret', 'refresh_token', 'backup_codes', 'private_key', 'credential_id'],
  keycloak: ['secret_data', 'registration_token'],
  directus: ['auth_data'],
  vaultwarden: ['twofactor_remember', 'two_factor_remember']
}

/** Names that are none, though they have the same letters. */
const harmless = [
  'compass', 'passenger', 'passage', 'passive', 'passed', 'pass_rate', 'trespass', 'bypass', 'encompass',
  'passport_country', 'keyboard', 'hashtag', 'monkey', 'key', 'keyword', 'sort_key', 'cache_key', 'public_key',
  'primary_key', 'contact_key',
  'pinned', 'pinterest', 'shipping', 'opinion', 'spin', 'salty', 'saltwater', 'basalt', 'name', 'secretary',
  'secretariat', 'class', 'code', 'preset_code', 'country_code', 'zip_code', 'postal_code', 'currency_code',
  'product_code', 'promo_code',
  'author', 'author_key', 'authority', 'session', 'session_count', 'session_name', 'session_type', 'session_date',
  'sessions', 'id', 'user_id', 'sid', 'wash', 'crash', 'cash', 'hashing_rounds', 'token_count', 'token_type',
  'tokens_used', 'token_limit',
  'tokenizer', 'token_expires_at', 'token_expires', 'token_expiry', 'password_changed_at', 'password_updated_at',
  'password_expires_on', 'last_password_change', 'reset_password_sent_at', 'rp_token_created_at',
  'must_change_password',
  'has_password', 'is_secret', 'requires_otp', 'otp_enabled', 'otp_required', 'mfa_enabled',
  'failed_password_attempts', 'password_length', 'announce', 'pronounce', 'card', 'card_type', 'signature', 'iban',
  'description', 'verified', 'confirmed', 'activation', 'token_rate', 'password_used', 'token_changed',
  'password_change', 'password_type', 'cookie_consent', 'cookie_policy', 'cookie_banner', 'card_note', 'card_notes',
  'account_number', 'seed', 'seeds', 'keywords', 'stamp', 'time_stamp', 'timestamp', 'link', 'accent_key',
  'passkey_count', 'passkey_enabled', 'protein', 'concert_key', 'ghost_key', 'identity_credential_type_id', 'config',
  'key_data', 'device_code', 'user_code', 'author_data', 'auth_date', 'remember', 'host', 'cert'
]

/** A name in snake case, in two forms of camel case, in capitals, and as PostgreSQL folds it. */
const spellings: Readonly<Record<string, (name: string) => string>> = {
  snake: (name) => name,
  capitals: (name) => name.toUpperCase(),
  camel: (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  pascal: (name) => `_${name}`.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  folded: (name) => name.replaceAll('_', '')
}

/** Makes a table with columns that are written as `name type`. */
async function create (db: Kysely<Tables>, table: string, ...columns: string[]): Promise<void> {
  const written = columns.map((column) => {
    const [name = '', type = ''] = column.split(' ')
    return sql`${sql.ref(name)} ${sql.raw(type)}`
  })
  await sql`create table ${sql.table(table)} (id integer not null primary key, ${sql.join(written)})`.execute(db)
}

for (const [spelling, spell] of Object.entries(spellings)) {
  test(`D-120: names of secrets are known in ${spelling}, and others are not taken for them`, (t) => {
    for (const [from, names] of Object.entries(secret)) {
      t.same(names.map(spell).filter((name) => !isSecretName(name)), [], from)
    }
    t.same(harmless.map(spell).filter(isSecretName), [])
    t.end()
  })
}

test('D-120: what introspection takes for a password is a secret, however it is written', async (t) => {
  const names = ['password', 'passwd', 'pwd', 'passwordhash', 'passwordHash', 'PASSWORD_HASH', 'pass_word_hash',
    'hashedpassword', 'hashed_password',
    'encrypted_password', 'password_digest', 'encryptedPassword', 'PasswordDigest', 'user_pass']
  const db = await openDatabase(t)
  const tables = names.map((_, index) => `people${index}`)
  for (const [index, name] of names.entries()) await create(db, tables[index]!, `${name} text`)
  const { models } = await introspect(db, { tables })
  const secrets = await secretColumns(db, [])
  for (const { table, columns } of models) {
    for (const column of columns.slice(1)) {
      t.ok(isSecret(column), column.name)
      t.ok(secrets.has(`${table}.${column.name}`), column.name)
    }
  }
  t.equal(models.length, names.length)
})

test('D-120: flags, moments and numeric ids are no secrets; the note on a table of secrets is short', async (t) => {
  const db = await openDatabase(t)
  await create(db, 'talk', 'session_id integer', 'password_reset date', 'otp boolean', 'pin integer')
  await create(db, 'visit', 'session_id text', 'token text', 'blob polygon')
  await create(db, 'api_keys', 'key text', 'name text')
  await create(db, 'sessions', 'payload text', 'sid text', 'sess text', 'ip text')
  await create(db, 'setting', 'key text', 'value text')
  await create(db, 'verification', 'identifier text', 'value text')
  await create(db, 'email_verifications', 'value text', 'name text')
  await create(db, 'device', 'identifier text')
  t.same([...await secretColumns(db, [])].sort(), [
    'api_keys.key', 'email_verifications.value', 'sessions.payload', 'sessions.sess', 'sessions.sid', 'talk.pin',
    'verification.identifier', 'verification.value',
    'visit.session_id', 'visit.token'
  ])
})

/** Makes tables of columns that are written as `name type`; the first is the primary key. */
async function createKeyed (db: Kysely<Tables>, tables: Readonly<Record<string, readonly string[]>>): Promise<void> {
  for (const [table, [key = '', ...columns]] of Object.entries(tables)) {
    const written = [`${key} not null primary key`, ...columns].map((column) => {
      const [name = '', type = ''] = column.split(/ (.*)/)
      return sql`${sql.ref(name)} ${sql.raw(type)}`
    })
    await sql`create table ${sql.table(table)} (${sql.join(written)})`.execute(db)
  }
}

const word = 'varchar(40)'
const uuidType = engine === 'sqlite' ? 'char(36)' : 'uuid'

test('D-120: the text key of a session is its cookie, unless it is a UUID or stands beside a token', async (t) => {
  const db = await openSeparateDatabase(t)
  await createKeyed(db, {
    session: [`id ${word}`, 'user_id integer', 'expires_at integer'],
    sessions: ['id varchar(255)', 'user_id bigint', `ip_address ${word}`, `payload ${word}`, 'last_activity integer'],
    AuthSession: [`id ${word}`, `csrf_token ${word}`],
    user_session: ['id integer', 'user_id integer'],
    web_sessions: [`id ${uuidType}`, 'user_id integer'],
    old_sessions: ['id varchar(36)', 'user_id integer'],
    better_session: [`id ${word}`, `token ${word}`],
    authjs_session: [`id ${word}`, `sessionToken ${word}`],
    lesson: [`id ${word}`, `title ${word}`]
  })
  t.same([...await secretColumns(db, [])].sort(), [
    'AuthSession.csrf_token', 'AuthSession.id', 'authjs_session.sessionToken', 'better_session.token', 'session.id',
    'sessions.id', 'sessions.payload'
  ])
  const { source, models, notes } = await introspect(db)
  t.equal(models.length, 9)
  const found = notes.filter(({ why }) => why.includes('looks secret'))
  t.same(found.map(({ table, column }) => `${table}.${column}`).sort(), ['AuthSession.id', 'session.id', 'sessions.id'])
  t.equal(describeNotes(found).join(), "Columns 'AuthSession.id', 'session.id', 'sessions.id': each is a primary key " +
    "that looks secret: paths and links show it, and 'exclude' cannot hide it. Do not serve the model, or define by " +
    'hand a model of a view with another key')
  t.match(source, 'is a primary key that looks secret')
})

test('D-120: confirmations, second factors and grants hold secrets under harmless names', async (t) => {
  const db = await openDatabase(t)
  const all = ['key', 'code', 'data', 'config', 'keyData']
  const columns = ['id integer', ...[...all, 'status_code', 'activation'].map((name) => `${name} ${word}`)]
  const hidden = {
    all: [
      'account_emailconfirmation', 'UserConfirmation', 'phone_confirmations', 'mfa_authenticator', 'TwoFactorMethod',
      'user_second_factors', 'identity_credentials', 'auth_authenticator', 'hydra_jwk', 'jwks', 'KeyStore'
    ],
    code: ['oauth2_provider_grant', 'oauthauthdata', 'OAuthGrant', 'oidc_grants', 'invites', 'UserInvitation'],
    activation: ['jos_users', 'UserAccount', 'members']
  }
  const plain = [
    'setting', 'country', 'orders', 'order_confirmation', 'coauthors', 'co_author', 'django_auth_group', 'grants',
    'user_groups', 'factors', 'key_figures'
  ]
  for (const table of [...Object.values(hidden).flat(), ...plain]) await createKeyed(db, { [table]: columns })
  t.same([...await secretColumns(db, [])].sort(), [
    ...hidden.all.flatMap((table) => all.map((name) => `${table}.${name}`)),
    ...hidden.code.map((table) => `${table}.code`),
    ...hidden.activation.map((table) => `${table}.activation`)
  ].sort())
  await createKeyed(db, {
    oauth_device: ['id integer', `device_code ${word}`, `user_code ${word}`, 'code integer'],
    deviceCode: ['id integer', `deviceCode ${word}`, `userCode ${word}`, 'code integer'],
    device: ['id integer', `device_code ${word}`, `user_code ${word}`]
  })
  t.same([...await secretColumns(db, [])].filter((name) => /^[^.]*device/.test(name)).sort(), [
    'deviceCode.deviceCode', 'deviceCode.userCode', 'oauth_device.device_code', 'oauth_device.user_code'
  ])
})

test('D-120: check judges the fields of an app by the same names', (t) => {
  const Session = defineModel('Session', { id: key({ column: 'session_id' }), title: text() })
  const Talk = defineModel('Talk', {
    session: foreignKey(() => Session),
    sess_id: text(),
    otp: boolean(),
    token: datetime(),
    pin: integer(),
    word: text({ column: 'passwordhash' })
  })
  const secretsOf = (model: Model) => model.columns.filter((column) => looksSecret(model, column))
  t.same(secretsOf(Session), [])
  t.same(secretsOf(Talk).map(({ field }) => field), ['sess_id', 'pin', 'word'])
  t.end()
})
