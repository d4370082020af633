-- Who may look at and change an installation through its console, and with what they sign in.
CREATE TABLE packhouse.operator (
  id int4 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
  role text NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
  -- Argon2id in PHC form; null: there is no password.
  password text,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Links for one use, sessions of browsers and tokens of programs. Only their SHA-256 is kept.
CREATE TABLE packhouse.operator_secret (
  sha256 bytea PRIMARY KEY CHECK (octet_length(sha256) = 32),
  kind text NOT NULL CHECK (kind IN ('link', 'session', 'token')),
  -- One of both: an operator, or the holder of a key, who sees his own usage only.
  operator_id int4 REFERENCES packhouse.operator (id) ON DELETE CASCADE,
  key_id int8 REFERENCES packhouse.api_key (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'viewer', 'operator', 'admin')),
  label text NOT NULL DEFAULT '' CHECK (length(label) <= 200),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  CHECK ((operator_id IS NULL) <> (key_id IS NULL)),
  CHECK ((role = 'owner') = (key_id IS NOT NULL))
);
CREATE INDEX operator_secret_operator ON packhouse.operator_secret (operator_id);
CREATE INDEX operator_secret_key ON packhouse.operator_secret (key_id);

-- Failed attempts to sign in, by name or by address of the client.
CREATE TABLE packhouse.sign_in_failure (
  subject text PRIMARY KEY CHECK (length(subject) <= 300),
  failures int4 NOT NULL,
  last_at timestamptz NOT NULL
);
