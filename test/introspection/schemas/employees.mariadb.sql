create table employees (
  emp_no int not null, birth_date date not null, first_name varchar(14) not null, last_name varchar(16) not null,
  gender enum ('M', 'F') not null, hire_date date not null, primary key (emp_no)
);
create table departments (dept_no char(4) not null, dept_name varchar(40) not null, primary key (dept_no), unique key (dept_name));
create table dept_manager (
  emp_no int not null, dept_no char(4) not null, from_date date not null, to_date date not null,
  foreign key (emp_no) references employees (emp_no) on delete cascade,
  foreign key (dept_no) references departments (dept_no) on delete cascade, primary key (emp_no, dept_no)
);
create table dept_emp (
  emp_no int not null, dept_no char(4) not null, from_date date not null, to_date date not null,
  foreign key (emp_no) references employees (emp_no) on delete cascade,
  foreign key (dept_no) references departments (dept_no) on delete cascade, primary key (emp_no, dept_no)
);
create table titles (
  emp_no int not null, title varchar(50) not null, from_date date not null, to_date date,
  foreign key (emp_no) references employees (emp_no) on delete cascade, primary key (emp_no, title, from_date)
);
create table salaries (
  emp_no int not null, salary int not null, from_date date not null, to_date date not null,
  foreign key (emp_no) references employees (emp_no) on delete cascade, primary key (emp_no, from_date)
);
create or replace view dept_emp_latest_date as
  select emp_no, max(from_date) as from_date, max(to_date) as to_date from dept_emp group by emp_no;
create or replace view current_dept_emp as
  select l.emp_no, dept_no, l.from_date, l.to_date from dept_emp d inner join dept_emp_latest_date l
  on d.emp_no = l.emp_no and d.from_date = l.from_date and l.to_date = d.to_date;
